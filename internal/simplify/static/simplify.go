package static

import (
	"context"
	"math/rand/v2"
	"sort"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/trace"
)

// Effort bounds what Simplify does beyond the linear methods.
type Effort struct {
	// Starts is how many greedy orders are tried, each improved by BackwardForward; none if nodes ×
	// threads is more than Work.
	Starts int
	Work   int
	// Limits are for finding the optimum; the zero value skips it.
	Limits Limits
}

// DefaultEffort takes well below a second for traces of up to a hundred thousand events.
var DefaultEffort = Effort{Starts: 16, Work: 1 << 22, Limits: Limits{Cells: 1 << 20, States: 1 << 13}}

// Result is a simplified order.
type Result struct {
	Order  []int32
	Before int // switches
	After  int
	Best   Best // known bounds on the fewest switches; zero if not computed

	// ties are orders with as few switches as Order, starting with Order.
	ties [][]int32
}

// maxTies bounds how many orders are compared by their preemptions.
const maxTies = 4

// Simplify finds an order of the graph's nodes with few context switches that keeps every
// dependence: the best of SimTrace, BackwardForward, greedy orders and, within the limits, the
// optimum. If nothing is better than the recorded order, that is the result. The same graph gives
// the same order. The error is the context's.
func Simplify(ctx context.Context, g *depend.Graph, e Effort) (res Result, err error) {
	defer Caught(&err)
	stop := StopWith(ctx)
	return simplify(stop, g, e), nil
}

func simplify(stop *Stop, g *depend.Graph, e Effort) Result {
	recorded := Recorded(g)
	res := Result{Order: recorded, Before: Switches(g, recorded)}
	res.After = res.Before
	consider := func(order []int32) {
		switch n := Switches(g, order); {
		case n < res.After:
			res.Order, res.After, res.ties = order, n, [][]int32{order}
		case n == res.After && len(res.ties) > 0 && len(res.ties) < maxTies:
			res.ties = append(res.ties, order)
		}
	}
	m := NewMerger(g)
	m.stop = stop
	consider(m.Improve(recorded))
	consider(m.Improve(SimTrace(g)))
	// Reducing the order to chains takes a clock for each event, with a time for each thread.
	if e.Limits != (Limits{}) && g.Len()*g.Threads() <= 4*e.Work {
		res.Best = optimum(stop, g, res.Order, e.Limits)
		if res.Best.Exact {
			consider(res.Best.Order)
			return res
		}
	}
	if g.Len()*g.Threads() <= e.Work {
		c := collapse(g)
		for i := range e.Starts {
			r := rand.New(rand.NewPCG(uint64(i), 0x57a7))
			consider(m.Improve(greedy(stop, g, c, m.succs, rules[i%len(rules)], r)))
		}
	}
	return res
}

// Reordered returns the whole trace in the order that merge finds, with its threads
// numbered in their new order of creation, and the figures. The error is the context's.
func Reordered(ctx context.Context, t *trace.Trace) (reordered *trace.Trace, res Result, err error) {
	g := depend.Build(t)
	res, err = Merged(ctx, t, g)
	if err != nil || res.After == res.Before {
		return t, res, err
	}
	return g.Reorder(t, res.Order), res, nil
}

// ReorderedAfter is Reordered for what comes after the first kept scheduling decisions, which stay as they are.
func ReorderedAfter(ctx context.Context, t *trace.Trace, kept int) (reordered *trace.Trace, res Result, err error) {
	if kept == 0 {
		return Reordered(ctx, t)
	}
	event := 0
	for left := kept; event < len(t.Events); event++ {
		if t.Events[event].Flags&trace.FlagNoDecision == 0 {
			if left == 0 {
				break
			}
			left--
		}
	}
	g := depend.Build(t)
	n := sort.Search(g.Len(), func(n int) bool {
		from, _ := g.EventsOf(int32(n))
		return from >= event
	})
	res, err = Simplify(ctx, g.After(int32(n)), DefaultEffort)
	if err != nil || res.After == res.Before {
		return t, res, err
	}
	order := Recorded(g)
	for i, u := range res.Order {
		order[n+i] = int32(n) + u
	}
	res.Order = order
	return g.Reorder(t, order), res, nil
}

// Fewest returns a number of context switches that no order of the trace's events has fewer of that keeps every
// dependence: the least, where DefaultEffort suffices to compute it. The error is the context's.
func Fewest(ctx context.Context, t *trace.Trace) (int, error) {
	g := depend.Build(t)
	best, err := Optimum(ctx, g, Recorded(g), DefaultEffort.Limits)
	return best.Lower, err
}

// Merged is Simplify for the dependence graph of a trace of events: among orders with equally many
// switches it chooses one with few preemptions.
func Merged(ctx context.Context, t *trace.Trace, g *depend.Graph) (res Result, err error) {
	defer Caught(&err)
	_, res = merge(StopWith(ctx), t, g)
	return res, nil
}

func merge(stop *Stop, t *trace.Trace, g *depend.Graph) ([]trace.Event, Result) {
	res := simplify(stop, g, DefaultEffort)
	best := t.Events
	var cost trace.Cost
	for i, order := range res.ties {
		r := *t
		r.Events = make([]trace.Event, 0, len(t.Events))
		for _, n := range order {
			from, to := g.EventsOf(n)
			r.Events = append(r.Events, t.Events[from:to]...)
		}
		depend.SetEnabled(&r)
		if c := trace.CostOf(r.Events); i == 0 || c.Compare(cost) < 0 {
			best, cost, res.Order = r.Events, c, order
		}
	}
	return best, res
}
