package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// togetherPairs is how many pairs are turned together with one another.
const togetherPairs = 8

// turnTogether looks for two pairs of events that only together make the failure vanish: with one of them turned it still fails, as where
// one thread takes what two others have been woken for. The nearest to the failure come first.
func (x *explainer) turnTogether(ctx context.Context) error {
	pairs := x.failing()
	for k, p := range pairs {
		for _, q := range pairs[k+1:] {
			r, err := x.turnBoth(ctx, x.Base, p, q)
			if err != nil {
				return err
			}
			if r == nil || r.Verdict != experiment.Passes {
				continue
			}
			if direct := over(p, q); direct != nil {
				if done, err := x.settleBoth(ctx, direct, q); err != nil || done {
					return err
				}
			}
			if done, err := x.settleTurned(ctx, p, q, r.Trace); err != nil || done {
				return err
			}
		}
	}
	return nil
}

// over returns, for two pairs of which one begins with the event that ends the other, the pair of the first event of q and the last of p;
// nil for others. If two threads come too late for one event, it is that event which each of them should precede: which of the two comes
// first does not matter.
func over(p, q *pairOf) *pairOf {
	if q.second != p.first {
		return nil
	}
	return &pairOf{first: q.first, second: p.second, origin: p.origin}
}

// settleBoth settles an ordering that is of p and q together if an execution with both the other way round does not fail.
func (x *explainer) settleBoth(ctx context.Context, p, q *pairOf) (bool, error) {
	r, err := x.turnBoth(ctx, x.Base, p, q)
	if err != nil || r == nil || r.Verdict != experiment.Passes {
		return false, err
	}
	return x.settleTurned(ctx, p, q, r.Trace)
}

// settleTurned settles an ordering that is of p and q together, which passing has the other way round.
func (x *explainer) settleTurned(ctx context.Context, p, q *pairOf, passing *trace.Trace) (bool, error) {
	return x.settle(ctx, &suspect{Order: report.Order{First: p.first, Second: p.second, Together: true, Executions: 1}, passing: passing, pair: p, with: q})
}

// failing returns pairs of the program's own events each of which, turned alone, does not keep an execution from failing in the same way.
func (x *explainer) failing() (out []*pairOf) {
	for k := range x.pairs {
		p := &x.pairs[k]
		if p.waiter == nil && p.origin == report.OwnEvent && p.Passed == 0 && p.Failed > 0 {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b *pairOf) int { return cmp.Compare(b.second, a.second) })
	type places struct{ a, b trace.Site }
	listed := map[places]int{}
	out = slices.DeleteFunc(out, func(p *pairOf) bool {
		at := places{x.Base.Events[p.first].Site, x.Base.Events[p.second].Site}
		listed[at]++
		return listed[at] > 2 // two threads may execute them
	})
	return out[:min(len(out), togetherPairs)]
}

// turnBoth executes a variation of base, which has two pairs of events of the experiment's base in their order, with both the other way
// round; nil if that could not be done.
func (x *explainer) turnBoth(ctx context.Context, base *trace.Trace, p, q *pairOf) (*experiment.Result, error) {
	turned := func(t *trace.Trace, p *pairOf) bool {
		m := experiment.Match(x.Base, t)
		a, b := m.Of(p.first), m.Of(p.second)
		return a >= 0 && b >= 0 && b < a
	}
	turn := func(t *trace.Trace, p *pairOf) ([]*experiment.Result, error) {
		m := experiment.Match(x.Base, t)
		a, b := m.Of(p.first), m.Of(p.second)
		if a < 0 || b < a {
			return nil, nil
		}
		y := x.On(t, x.Plan)
		var out []*experiment.Result
		for _, way := range y.Turns(a, b) {
			r, err := y.Turn(ctx, way, a, b)
			if err != nil {
				return nil, err
			}
			if r.Trace != nil && turned(r.Trace, p) {
				out = append(out, r)
			}
		}
		return out, nil
	}
	ones, err := turn(base, p)
	if err != nil {
		return nil, err
	}
	var found *experiment.Result
	for _, one := range ones {
		if one.Verdict == experiment.Passes {
			continue
		}
		both, err := turn(one.Trace, q)
		if err != nil {
			return nil, err
		}
		for _, r := range both {
			if turned(r.Trace, p) && (found == nil || r.Verdict == experiment.Passes && found.Verdict != experiment.Passes) {
				found = r
			}
		}
	}
	return found, nil
}
