package proof

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
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
		tr := stmt.FromTrace(tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%4), Length: 4 + int(seed%9), Big: seed%9 == 0}).Trace)
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
