package static

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// exhaustive finds the fewest switches by going through all states (nodes done, thread
// running) of the recorded graph, with none of the ideas of Optimum.
func exhaustive(g *depend.Graph) int {
	type at struct {
		done uint64
		t    int32
	}
	n := g.Len()
	prev := make([]int32, n)
	last := map[int32]int32{}
	for i := range int32(n) {
		prev[i] = -1
		if p, ok := last[g.Thread[i]]; ok {
			prev[i] = p
		}
		last[g.Thread[i]] = i
	}
	level := map[at]bool{{0, -1}: true}
	for cost := 0; ; cost++ {
		// Everything that can be reached without a further piece.
		var todo []at
		for s := range level {
			todo = append(todo, s)
		}
		next := map[at]bool{}
		for len(todo) > 0 {
			s := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if bits.OnesCount64(s.done) == n {
				return cost - 1
			}
		nodes:
			for i := range int32(n) {
				if s.done>>i&1 == 1 || prev[i] >= 0 && s.done>>prev[i]&1 == 0 {
					continue
				}
				for _, p := range g.Preds(i) {
					if s.done>>p&1 == 0 {
						continue nodes
					}
				}
				to := at{s.done | 1<<i, g.Thread[i]}
				if g.Thread[i] == s.t {
					if !level[to] {
						level[to] = true
						todo = append(todo, to)
					}
				} else {
					next[to] = true
				}
			}
		}
		level = next
	}
}

// settings are limits that make Optimum go each of its ways.
var settings = map[string]Limits{
	"table":         DefaultLimits,
	"search":        {Cells: 0, States: 1 << 16},
	"search, pairs": {Cells: 200, States: 1 << 16},
	"cut short":     {Cells: 0, States: 1},
}

func TestOptimumIsTheFewest(t *testing.T) {
	exact := map[string]int{}
	cut := 0
	for seed := range uint64(600) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%3), Length: 2 + int(seed%4), Stay: int(seed % 3 * 20)})
		g := depend.Build(run.Trace)
		if g.Len() > 22 {
			continue
		}
		want := exhaustive(g)
		for name, l := range settings {
			for _, known := range [][]int32{nil, Recorded(g), BackwardForward(g)} {
				b := optimum(nil, g, known, l)
				if b.Lower > want || b.Exact && b.Lower != want {
					t.Fatalf("seed %d, %s: %+v, the fewest are %d", seed, name, b, want)
				}
				if !b.Exact {
					cut++
					continue
				}
				exact[name]++
				if err := ordertest.Check(g, g.Thread, b.Order); err != nil {
					t.Fatalf("seed %d, %s: %v", seed, name, err)
				}
				if n := Switches(g, b.Order); n != want {
					t.Fatalf("seed %d, %s: the order has %d switches, not %d", seed, name, n, want)
				}
			}
		}
		if w := windowed(nil, g) - 1; w > want {
			t.Fatalf("seed %d: windowed says at least %d, the fewest are %d", seed, w, want)
		}
	}
	t.Logf("exact %v, cut short %d", exact, cut)
	if exact["table"] < 900 || exact["search"] < 900 || exact["search, pairs"] < 900 || cut < 30 {
		t.Errorf("exact %v, cut short %d: too few to show anything", exact, cut)
	}
}

// smallestCover is by trying all sets.
func smallestCover(n int, edges [][2]int) int {
	best := n
	for set := range 1 << n {
		ok := true
		for _, e := range edges {
			ok = ok && (set>>e[0]&1 == 1 || set>>e[1]&1 == 1)
		}
		if ok {
			best = min(best, bits.OnesCount(uint(set)))
		}
	}
	return best
}

// TestVertexCover is FSE'10 Theorem 3.1: the fewest pieces are the vertices plus the
// smallest cover.
func TestVertexCover(t *testing.T) {
	known := [][][2]int{
		{},                                       // no edge: nothing to cover
		{{0, 1}},                                 // one edge
		{{0, 1}, {1, 2}, {2, 0}},                 // a triangle needs two
		{{0, 1}, {0, 2}, {0, 3}, {0, 4}},         // a star needs its centre
		{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, // a ring of five needs three
	}
	check := func(name string, n int, edges [][2]int, l Limits) {
		tr, err := tracegen.Cover(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		g := depend.Build(tr)
		b := optimum(nil, g, BackwardForward(g), l)
		want := n + smallestCover(n, edges) - 1
		if !b.Exact || b.Lower != want {
			t.Errorf("%s: %+v, want %d", name, b, want)
		}
		if b.Exact {
			if err := ordertest.Check(g, g.Thread, b.Order); err != nil || Switches(g, b.Order) != want {
				t.Errorf("%s: order %v: %v", name, b.Order, err)
			}
		}
	}
	for i, edges := range known {
		check(fmt.Sprint("known ", i), 5, edges, DefaultLimits)
	}
	for seed := range uint64(40) {
		n := 3 + int(seed%9)
		check(fmt.Sprint("random ", seed), n, tracegen.RandomGraph(seed, n, 0.1+float64(seed%8)/10), DefaultLimits)
	}
	for seed := range uint64(2) {
		// 3^14 cuts are too many for the table.
		check(fmt.Sprint("large ", seed), 14, tracegen.RandomGraph(seed, 14, 0.2), DefaultLimits)
	}
}

// TestPingPong has as many TEIs as events in every order; its length is beyond any
// table, and the bound alone must see it.
func TestPingPong(t *testing.T) {
	var tr trace.Trace
	for i := range 100000 {
		tr.Events = append(tr.Events, trace.Event{Thread: trace.ThreadID(i % 3), Op: trace.OpAtomicRmw, Object: 64, Size: 8})
	}
	g := depend.Build(&tr)
	if b := optimum(nil, g, Recorded(g), DefaultLimits); !b.Exact || b.Lower != 99999 {
		t.Errorf("%+v", b)
	}
	if w := windowed(nil, g); w < 99999-3*(100000*3/window+1) || w > 100000 {
		t.Errorf("windowed says at least %d", w)
	}
}

func TestHeaviest(t *testing.T) {
	for _, c := range []struct {
		weight [][]int
		want   int
	}{
		{[][]int{}, 0},
		{[][]int{{5}}, 5},
		{[][]int{{1, 2}, {3, 1}}, 5},
		{[][]int{{7, 4, 3}, {6, 8, 5}, {9, 4, 4}}, 20},
		{[][]int{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0},
	} {
		if got := heaviest(c.weight); got != c.want {
			t.Errorf("%v: %d, want %d", c.weight, got, c.want)
		}
	}
}
