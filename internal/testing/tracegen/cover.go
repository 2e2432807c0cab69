package tracegen

import (
	"fmt"
	"math/rand/v2"

	"github.com/heddle-dev/heddle/trace"
)

// Cover is the trace of FSE'10 Theorem 3.1 for a graph of n vertices: a thread for each
// vertex, with a first action and a second one, and for every edge {u, v} the first of u
// before the second of v and the first of v before the second of u. Two threads with an
// edge between them cannot both run in one piece, so the fewest thread execution intervals
// are n plus the size of the smallest vertex cover.
//
// An action of the paper depends on many others; here the first writes the vertex's
// variable and the second reads those of its neighbours, one event each. A thread's reads
// may come apart, but that makes no piece fewer.
func Cover(n int, edges [][2]int) (*trace.Trace, error) {
	t := &trace.Trace{Header: trace.Header{Target: "generated", Instrumented: true, Strategy: "vertex cover"}}
	neighbours := make([][]int, n)
	for _, e := range edges {
		u, v := e[0], e[1]
		if u < 0 || v < 0 || u >= n || v >= n || u == v {
			return nil, fmt.Errorf("edge {%d, %d} is not of two of the %d vertices", u, v, n)
		}
		neighbours[u] = append(neighbours[u], v)
		neighbours[v] = append(neighbours[v], u)
	}
	variable := func(v int) trace.Object { return global(varsAt + 8*uint64(v)) }
	for v := range n {
		t.Threads = append(t.Threads, trace.Thread{ID: trace.ThreadID(v), Parent: -1, Nth: v})
		t.Events = append(t.Events, trace.Event{Thread: trace.ThreadID(v), Op: trace.OpWrite, Object: variable(v), Size: 8})
	}
	for v := range n {
		if len(neighbours[v]) == 0 {
			// The second action of a vertex with no edge: nothing depends on it.
			t.Events = append(t.Events, trace.Event{Thread: trace.ThreadID(v), Op: trace.OpYield})
		}
		for _, u := range neighbours[v] {
			t.Events = append(t.Events, trace.Event{Thread: trace.ThreadID(v), Op: trace.OpRead, Object: variable(u), Size: 8})
		}
	}
	return t, nil
}

// RandomGraph has each possible edge with the given chance.
func RandomGraph(seed uint64, n int, chance float64) [][2]int {
	r := rand.New(rand.NewPCG(seed, 0xc0))
	var edges [][2]int
	for u := range n {
		for v := range u {
			if r.Float64() < chance {
				edges = append(edges, [2]int{v, u})
			}
		}
	}
	return edges
}
