package engine

import (
	"context"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Necessity is what executions without an interleaving show of a failure that occurred with it.
type Necessity struct {
	Passed int // did not fail
	Failed int // failed in the same way
}

// Unnecessary reports whether the failure occurs without the interleaving, and no execution without it passed.
func (n Necessity) Unnecessary() bool { return n.Failed > 0 && n.Passed == 0 }

// necessityRuns bounds the executions of Necessary.
const necessityRuns = 16

// Necessary repeats a failing execution, which the seed's plan made, so that an interleaving which occurred in it does not: r comes
// before p, or after c, and the rest of the schedule is followed as closely as possible. Executions in which the
// interleaving occurs all the same do not count.
func Necessary(ctx context.Context, t target.Target, failing *trace.Trace, seed uint64, want atomicity.Triple) (n Necessity, err error) {
	order := make([]int, len(failing.Events))
	for i := range order {
		order[i] = i
	}
	plan := reorderPlanAt(failing, order, []trace.Site{want.P.Site, want.R.Site, want.C.Site})
	plan.Seed, plan.Mode = seed, schedule.Tolerant
	base := *failing
	base.Events = append([]trace.Event(nil), failing.Events...)
	for i := range base.Events {
		if ev := &base.Events[i]; is(ev, want.P) || is(ev, want.R) || is(ev, want.C) {
			ev.Flags &^= trace.FlagNoDecision // they are scheduling points of the plan
		}
	}
	runs := 0
	for _, pair := range aroundRemote(&base, want) {
		for _, turn := range turns(&base, pair[0], pair[1]) {
			if runs++; runs > necessityRuns {
				return n, nil
			}
			p := plan
			p.Script, p.Threads = turn.turned, base.Threads
			o, err := t.Run(ctx, p)
			if err != nil {
				return n, err
			}
			if o.Trace == nil || atomicity.Exercised(o.Trace, want)[0] {
				continue
			}
			switch {
			case o.Ending.Kind == trace.Clean:
				n.Passed++
			case SameFailure(failing, o.Trace):
				n.Failed++
			}
		}
	}
	return n, nil
}

// is reports whether an event is of a statement's instruction.
func is(ev *trace.Event, s atomicity.Statement) bool { return ev.Site == s.Site && ev.Op == s.Op }

// aroundRemote returns, for each occurrence of the interleaving, the pairs p and r, and r and c, the last occurrence first.
func aroundRemote(t *trace.Trace, want atomicity.Triple) (pairs [][2]int) {
	for r := len(t.Events) - 1; r >= 0; r-- {
		remote := &t.Events[r]
		if !is(remote, want.R) {
			continue
		}
		before := map[trace.ThreadID]int{} // the last access of each other thread
		for i := range r {
			if ev := &t.Events[i]; ev.Thread != remote.Thread && ev.Op.IsAccess() && overlap(ev, remote) {
				before[ev.Thread] = i
			}
		}
		for thread, p := range before {
			if !is(&t.Events[p], want.P) {
				continue
			}
			for c := r + 1; c < len(t.Events); c++ {
				if ev := &t.Events[c]; ev.Thread == thread && ev.Op.IsAccess() && overlap(ev, remote) {
					if is(ev, want.C) {
						pairs = append(pairs, [2]int{r, c})
					}
					break
				}
			}
			pairs = append(pairs, [2]int{p, r})
		}
	}
	return pairs
}

// CheckBugs tells of the interleavings with which executions failed those that the failure does not need: their Needless is set.
func CheckBugs(ctx context.Context, t target.Target, targets []strategy.Target) error {
	for i := range targets {
		x := &targets[i]
		if x.Failing == nil {
			continue
		}
		n, err := Necessary(ctx, t, x.Failing, x.FailingSeed, x.Triple)
		if err != nil {
			return err
		}
		if n.Unnecessary() {
			x.Needless = n.Failed
		}
	}
	return nil
}
