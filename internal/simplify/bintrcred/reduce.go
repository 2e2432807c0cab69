package bintrcred

import (
	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// maxRounds bounds the reduction. Gains end after a few rounds; reduction stops after a cycle of
// rounds that removes less than one switch in enough.
const (
	maxRounds = 16
	enough    = 1000
)

// reduce reduces a trace by a sound form of the rules of Figure 4; see stmt.Rule. The order that it
// returns keeps every dependence and has no more context switches than the trace or the result of
// static.SimTrace. The derivation proves the first two properties.
//
// It differs from the paper as follows. It swaps whole TEIs of a thread, never single statements of
// one, and only past units that are not connected with those that move. (S) does not swap its
// halves, which are rarely unconnected, but joins each thread's last TEI in the first half with its
// first in the second, by moving either past everything in between. When halving gains nothing
// more, reduce divides the trace at one end instead of in the middle (stmt.Forward, stmt.Backward),
// which also lets a part of a TEI move. It repeats all this until the gain is negligible.
func reduce(stop *static.Stop, t *stmt.Trace, quads []Quad) ([]int32, *stmt.Derivation) {
	g := stmt.Graph(t)
	r := newReducer(t, g, quads)
	r.stop = stop
	r.improve(t.Recorded())
	if other := static.SimTrace(g); t.Switches(other) < t.Switches(r.order) {
		// The other order has fewer switches: derive it and continue from it.
		s := newReducer(t, g, quads)
		s.stop = stop
		s.line(t.Recorded(), other)
		s.improve(other)
		r = s
	}
	return r.order, r.derivation()
}

// derivation returns the derivation of the reducer's order.
func (r *reducer) derivation() *stmt.Derivation {
	d := &stmt.Derivation{
		Units: r.t.Len(), Statements: len(r.t.Stmts), Trace: r.t.Digest(),
		Segments: segments(r.quads), Rounds: r.rounds,
		Before: r.t.Switches(r.t.Recorded()), After: r.t.Switches(r.order), Result: stmt.OrderDigest(r.order),
	}
	d.Seal = d.Sealed()
	return d
}

type reducer struct {
	stop   *static.Stop
	t      *stmt.Trace
	g      *depend.Graph
	succs  *depend.Succs
	quads  []Quad
	lead   []int32 // the previous unit of the thread, or -1
	follow []int32 // the next unit of the thread, or -1
	order  []int32
	rounds []stmt.Round
}

func newReducer(t *stmt.Trace, g *depend.Graph, quads []Quad) *reducer {
	r := &reducer{t: t, g: g, succs: g.Succs(), quads: quads, lead: make([]int32, t.Len()), follow: make([]int32, t.Len())}
	last := make([]int32, len(t.Threads))
	for th := range last {
		last[th] = -1
	}
	for u := range int32(t.Len()) {
		th := t.Of[u]
		r.lead[u], r.follow[u] = last[th], -1
		if last[th] >= 0 {
			r.follow[last[th]] = u
		}
		last[th] = u
	}
	return r
}

// improve reduces an order until the gain is negligible.
func (r *reducer) improve(order []int32) {
	r.order = order
	rounds := 0
	for rounds < maxRounds {
		before := r.t.Switches(r.order)
		for rounds < maxRounds {
			start := r.t.Switches(r.order)
			r.round(stmt.Binary, r.binary)
			rounds++
			if now := r.t.Switches(r.order); start-now <= now/enough {
				break
			}
		}
		r.round(stmt.Backward, r.backward)
		r.round(stmt.Forward, r.forward)
		rounds += 2
		if now := r.t.Switches(r.order); before-now <= now/enough {
			break
		}
	}
}

// round performs one round and records it if it has steps.
func (r *reducer) round(shape stmt.Shape, do func() ([]int32, []stmt.Step)) {
	order, steps := do()
	if len(steps) > 0 {
		r.order = order
		r.rounds = append(r.rounds, stmt.Round{Shape: shape, Steps: steps})
	}
}

// line derives one order from another.
func (r *reducer) line(from, to []int32) {
	// behind[u] is the unit after u in the list being rearranged, and at[u] the unit before; index
	// n is the end of the list.
	n := int32(len(from))
	behind, at := make([]int32, n+1), make([]int32, n+1)
	prev := n
	pieces := int32(0)
	for _, u := range from {
		if prev == n || r.t.Of[prev] != r.t.Of[u] {
			pieces++
		}
		behind[prev], at[u] = u, prev
		prev = u
	}
	behind[prev], at[n] = n, prev
	var steps []stmt.Step
	last := n // the last unit already in place
	for i := 0; i < len(to); {
		r.stop.Check()
		first := to[i]
		if behind[last] == first {
			last = first
			i++
			continue
		}
		end, count := first, int32(1)
		for i++; i < len(to) && to[i] == r.follow[end] && behind[end] == to[i]; i++ {
			end = to[i]
			count++
		}
		after := last
		if last == n {
			after = -1
		}
		steps = append(steps, stmt.Step{Rule: stmt.Line, Hi: pieces, Unit: first, Count: count, After: after})
		p, q := at[first], behind[end]
		behind[p], at[q] = q, p
		q = behind[last]
		behind[last], at[first] = first, last
		behind[end], at[q] = q, end
		last = end
	}
	if len(steps) > 0 {
		r.rounds = append(r.rounds, stmt.Round{Shape: stmt.Straight, Steps: steps})
	}
}
