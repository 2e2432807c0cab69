package engine

import (
	"context"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// mostBisected is how many pairs are narrowed down.
const mostBisected = 4

// bisect narrows pairs down that say more than they have to. Where an access comes before several of another thread to the same memory, and
// turning it with the last of them helps, but not with the first, it looks for the first that suffices. It does the same where several come
// before one.
func (x *explainer) bisect(ctx context.Context, origin report.Origin) error {
	bisected := 0
	pairs := x.pairs // without those that are added
	for k, p := range pairs {
		if p.origin != origin || p.waiter != nil || p.Passed == 0 || p.Failed > 0 {
			continue
		}
		for _, q := range pairs {
			between, pair := x.between(&p, &q)
			if len(between) == 0 {
				continue
			}
			if bisected++; bisected > mostBisected {
				return nil
			}
			for closest := k; len(between) > 0; {
				mid := len(between) / 2
				first, second := pair(between[mid])
				number, passes, err := x.tryAnother(ctx, first, second, origin)
				if err != nil {
					return err
				}
				if passes {
					between = between[:mid]
					x.pairs[closest].Turned = append(x.pairs[closest].Turned, number) // it turns that one, too
					closest = len(x.pairs) - 1
				} else {
					between = between[mid+1:]
				}
			}
			break
		}
	}
	return nil
}

// between returns, for a pair that helps and a closer one that does not, which share an event, the accesses between their others, the closest
// first, and what makes a pair with one of them.
func (x *explainer) between(p, q *pairOf) (out []int, pair func(e int) (first, second int)) {
	events := x.Base.Events
	if q.waiter != nil || q.Passed > 0 || q.Failed == 0 {
		return nil, nil
	}
	far, near, step := p.second, q.second, 1
	pair = func(e int) (int, int) { return p.first, e }
	if q.second == p.second {
		far, near, step = p.first, q.first, -1
		pair = func(e int) (int, int) { return e, p.second }
	} else if q.first != p.first {
		return nil, nil
	}
	like := func(e int) bool {
		ev := &events[e]
		return ev.Thread == events[far].Thread && ev.Object == events[far].Object && ops.Of(ev.Op).Of == ops.Memory
	}
	if !like(far) || !like(near) || (far-near)*step <= 0 {
		return nil, nil
	}
	for e := near + step; e != far; e += step {
		if like(e) && events[e].Flags&trace.FlagNoDecision == 0 {
			out = append(out, e)
		}
	}
	return out, pair
}

// tryAnother turns a pair that is not among those of the experiment, and adds it. It returns the pair's number in Trial.Turned, and whether turning it
// helps.
func (x *explainer) tryAnother(ctx context.Context, first, second int, origin report.Origin) (number int, passes bool, err error) {
	pairs := x.compared()
	p := pairOf{first: first, second: second, origin: origin}
	p.Trial, err = x.Try(ctx, append(pairs, [2]int{first, second}), len(pairs), false)
	x.pairs = append(x.pairs, p)
	return len(pairs), p.Passed > 0 && p.Failed == 0, err
}
