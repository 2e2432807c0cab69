package bintrcred

import "github.com/heddle-dev/heddle/internal/simplify/stmt"

// Reading is how the rules of Figure 4 are read. The zero value is the letter: then (S)
// returns the statements as they were where it does not swap its halves, not what the
// halves came to, and at the start of a trace it cannot swap, because nothing comes
// before. So by the letter no trace of more than two statements ever changes.
type Reading struct {
	// Primed keeps what the halves came to.
	Primed bool
	// First takes the side condition of (S), which print has on the first statement of
	// the trace's last segment, to be on the first statement of the second half: that is
	// what would join what comes before.
	First bool
	// Safe adds to (base2) that the two statements are of different threads and not
	// connected, so as to see what is wrong with (S) alone.
	Safe bool
}

// Printed reduces a trace by the rules of Figure 4 as they are printed, which do not ask
// whether what they swap is connected. It is here to show what that leads to, and is used
// for nothing else.
func Printed(t *stmt.Trace, r Reading) []int32 {
	quads := Connect(t)
	in := make([]noted, t.Len())
	for i := range in {
		in[i] = noted{int32(i), quads[i+1]}
	}
	p := printer{t, r}
	out := p.reduce(quads[0], in)
	order := make([]int32, len(out))
	for i, n := range out {
		order[i] = n.unit
	}
	return order
}

// noted is a statement with the annotation after it.
type noted struct {
	unit int32
	Quad
}

type printer struct {
	t *stmt.Trace
	r Reading
}

// reduce is the system: it returns the statements after a join-point, reduced.
func (p *printer) reduce(before Quad, in []noted) []noted {
	switch len(in) {
	case 0, 1: // (base0)
		return in
	case 2:
		if before.T2 != in[1].T1 { // (base1)
			return in
		}
		if p.r.Safe && connect(p.t, in[0].unit, in[1].unit) {
			return in
		}
		// (base2)
		return []noted{
			{in[1].unit, Quad{before.S1, in[1].S2, before.T1, in[1].T2}},
			in[0],
		}
	}
	// (S)
	v := (len(in) + 1) / 2
	first := p.reduce(before, in[:v:v])
	second := p.reduce(in[v-1].Quad, in[v:])
	end := second[len(second)-1]
	thread := end.T1
	if p.r.First {
		thread = p.t.Of[second[0].unit] + 1
	}
	switch {
	case before.T2 == thread:
		out := append([]noted(nil), second...)
		out[len(out)-1] = noted{end.unit, Quad{before.S1, end.S2, before.T1, end.T2}}
		return append(out, first...)
	case !p.r.Primed:
		return in
	}
	return append(append([]noted(nil), first...), second...)
}
