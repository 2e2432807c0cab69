package static

import (
	"context"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
)

// Limits bound the search for the optimum.
type Limits struct {
	// Cells is how many cuts a table may have, at two bytes for each cut and thread. A trace is
	// solved exactly if the product of (segments+1) over all threads is at most Cells.
	Cells int
	// States is how many cuts the search visits if that product is larger.
	States int
}

// DefaultLimits take about a second and 100 MB.
var DefaultLimits = Limits{Cells: 1 << 22, States: 1 << 18}

// Best holds the known bounds on the fewest switches.
type Best struct {
	// Lower is a lower bound on the number of switches of any order.
	Lower int
	// Exact: an order with exactly Lower switches exists: Order.
	Exact bool
	Order []int32

	Threads  int // of the trace
	Segments int // after merging; 0 if that took too much memory
	States   int // cuts visited
}

// Optimum looks for the fewest context switches that an order of the graph's nodes can
// have that keeps every dependence: the jump number of a partial order that is covered by
// one chain for each thread, where only changes between chains count. That is NP-hard in
// the number of threads (FSE'10, Theorem 3.1), and polynomial in their length for a fixed
// number.
//
// If the cuts are few, a table of all of them gives the answer. Otherwise the search goes from cut
// to cut, best first (A*, Hart, Nilsson and Raphael 1968), guided by tables for groups of threads,
// whose numbers add up because each interval belongs to one thread (additive pattern databases,
// Felner, Korf and Hanan 2004). If it reaches its limits, what it knows by then is a lower bound.
//
// A known order makes the search shorter; nil if none is known. The error is the context's.
func Optimum(ctx context.Context, g *depend.Graph, known []int32, l Limits) (b Best, err error) {
	defer Caught(&err)
	return optimum(StopWith(ctx), g, known, l), nil
}

func optimum(stop *Stop, g *depend.Graph, known []int32, l Limits) Best {
	b := Best{Threads: g.Threads()}
	if g.Len() == 0 {
		return Best{Exact: true}
	}
	c := shrink(stop, g)
	if c == nil {
		b.Lower = windowed(stop, g) - 1
		return b
	}
	b.Segments = c.g.Len()
	all := make([]int, len(c.of))
	for t := range all {
		all[t] = t
	}
	if n := c.cells(all, l.Cells); n > 0 {
		tb := c.tabulate(all, n)
		b.Lower, b.Exact, b.States = int(tb.fewest[0])-1, true, n
		b.Order = c.order(c.walk(tb))
		return b
	}
	upper := -1
	if known != nil {
		upper = Switches(g, known) + 1
	}
	s := newSearch(c, l, upper)
	if upper > 0 && s.bound >= upper {
		b.Exact, b.Order, b.Lower = true, known, upper-1
		return b
	}
	pieces, threads := s.run()
	b.Lower, b.States = pieces-1, s.looked
	switch {
	case threads != nil:
		b.Exact, b.Order = true, c.order(threads)
	case upper > 0 && pieces >= upper:
		b.Exact, b.Order, b.Lower = true, known, upper-1
	default:
		b.Lower = max(b.Lower, s.bound-1)
	}
	return b
}
