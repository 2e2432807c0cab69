package proof

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend/stmt"
	"github.com/heddle-dev/heddle/internal/simplify/gen"
)

// TestPlaces moves random stretches in a list of labels and in a slice.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 5, 40, 300} {
		var order []int32
		for i := range int32(n) {
			order = append(order, i)
		}
		p := newPlaces(order)
		for move := range 3000 {
			from := r.IntN(n)
			count := 1 + r.IntN(min(n-from, 8))
			rest := append(slices.Clone(order[:from]), order[from+count:]...)
			to := r.IntN(len(rest) + 1)
			if move%3 == 0 {
				to = min(1, len(rest)) // again and again the same place
			}
			after := int32(-1)
			if to > 0 {
				after = rest[to-1]
			}
			p.move(order[from], order[from+count-1], after, count)
			order = slices.Concat(rest[:to], order[from:from+count], rest[to:])
			i := 0
			for u := p.after(-1); u >= 0; u = p.after(u) {
				if u != order[i] || i > 0 && (!p.less(order[i-1], u) || p.less(u, order[i-1]) || p.before(u) != order[i-1]) {
					t.Fatalf("%d units, move %d: place %d has %d, not %d", n, move, i, u, order[i])
				}
				i++
			}
			if i != n {
				t.Fatalf("%d units, move %d: %d are left", n, move, i)
			}
		}
	}
}

// TestOrdered compares what has to come before what with the definition of connectedness,
// for all pairs.
func TestOrdered(t *testing.T) {
	for seed := range uint64(300) {
		tr := stmt.FromTrace(gen.Random(seed, gen.Shape{Threads: 2 + int(seed%4), Length: 4 + int(seed%9), Big: seed%9 == 0}).Trace)
		o := order(tr)
		n := tr.Len()
		closure := func(edge func(a, b int) bool) [][]bool {
			reach := make([][]bool, n)
			for b := range n {
				reach[b] = make([]bool, n)
				for a := b - 1; a >= 0; a-- {
					if !reach[b][a] && (tr.Of[a] == tr.Of[b] || edge(a, b)) {
						reach[b][a] = true
						for c := range a {
							reach[b][c] = reach[b][c] || reach[a][c]
						}
					}
				}
			}
			return reach
		}
		want := closure(func(a, b int) bool {
			for _, x := range tr.Unit(int32(a)) {
				for _, y := range tr.Unit(int32(b)) {
					if stmt.Connected(&x, &y) {
						return true
					}
				}
			}
			// Starting and awaiting a thread is of all its units, also of those that do
			// nothing.
			for _, x := range tr.Unit(int32(a)) {
				if x.Kind == stmt.Duplicate && x.Lo == tr.Of[b] {
					return true
				}
			}
			for _, y := range tr.Unit(int32(b)) {
				if y.Kind == stmt.Initiate && y.Lo == tr.Of[a] {
					return true
				}
			}
			return false
		})
		got := closure(func(a, b int) bool { return slices.Contains(o.of(int32(b)), int32(a)) })
		for b := range n {
			if !slices.Equal(want[b], got[b]) {
				t.Fatalf("seed %d: unit %d (%s): %v, definition %v", seed, b, tr.FormatUnit(int32(b)), got[b], want[b])
			}
		}
		r := reverse(o)
		for u := range int32(n) {
			for _, q := range r.of(u) {
				if !slices.Contains(o.of(q), u) {
					t.Fatalf("seed %d: reversed edge %d → %d", seed, u, q)
				}
			}
		}
	}
}

const small = `heddle derivation 1
trace units 3 statements 3 sha256 0101010101010101010101010101010101010101010101010101010101010101
segments 0 1
segments 2
round forward
S 0 3 up 2 1
round binary
base2 1 3 up 2 1
S 0 3 down 0 1
round line
line 0 3 2 1 after 0
result switches 2 1 sha256 0202020202020202020202020202020202020202020202020202020202020202 seal 0303030303030303030303030303030303030303030303030303030303030303
`

func TestText(t *testing.T) {
	d, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if d.Units != 3 || d.Before != 2 || d.After != 1 || len(d.Segments) != 3 || d.Steps() != 4 || !d.Rounds[1].Steps[1].Down || d.Rounds[2].Steps[0].After != 0 {
		t.Errorf("%+v", d)
	}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(small, "segments 0 1\nsegments 2", "segments 0 1 2", 1); out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

func TestReadErrors(t *testing.T) {
	lines := strings.SplitAfter(small, "\n")
	with := func(i int, line string) string {
		l := slices.Clone(lines)
		l[i] = line + "\n"
		return strings.Join(l, "")
	}
	for _, c := range []struct{ text, want string }{
		{"", "line 0: it ends before"},
		{lines[0], "line 1: it ends before"},
		{with(0, "heddle trace 1"), "line 1: not a derivation"},
		{with(0, "heddle derivation 2"), "line 1: this is version 2"},
		{with(1, "trace units 3"), "line 2: 3 words"},
		{with(1, "trace units -3 statements 3 sha256 00"), `line 2: "-3" is no number`},
		{with(1, "trace units 3 statements 3 sha256 00"), `line 2: "00" is no SHA-256`},
		{with(2, "segments x"), `line 3: "x" is no number`},
		{with(4, "round square"), "line 5: a round is one of"},
		{with(4, ""), "line 5: an empty line"},
		{with(4, "S 0 3 up 2 1"), "line 5: a step before the first round"},
		{with(5, "segments 7"), "line 6: segments after"},
		{with(5, "S 0 3 left 2 1"), `line 6: "left" in the place of "up"`},
		{with(5, "S 0 3 up 2"), "line 6: 5 words"},
		{with(5, "T 0 3 up 2 1"), `line 6: "T" is no rule`},
		{with(10, "line 0 3 2 1 behind 0"), `line 11: "behind" in the place of "after"`},
		{small + "round binary\n", "line 13: there is more after"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
