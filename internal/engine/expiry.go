package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// expiryTries is how many timers are tried, the last that fires first.
const expiryTries = 8

// expiries looks for a timer that fires too early: the base fails if it fires where it does, and does not if the others first do what they
// can. If an ordering is known already, that must be one of a thread that has waited since for the timer, and what it waits for
// decides: then the timer takes the ordering's place.
func (x *explainer) expiries(ctx context.Context) error {
	starts := ops.Timers(x.Base)
	tries := 0
	for _, e := range slices.Backward(slices.Sorted(maps.Keys(starts))) {
		if e == 0 || len(x.confirmed) > 0 && !x.awaits(x.confirmed[0], e) {
			continue
		}
		if tries++; tries > expiryTries {
			return nil
		}
		found, err := x.expiry(ctx, e)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		known := x.confirmed
		x.confirmed = nil
		done, err := x.settle(ctx, found)
		x.confirmed = append(x.confirmed, known...)
		if err != nil || done {
			return err
		}
	}
	return nil
}

// awaits reports whether the first of an ordering that shows no pattern begins a wait for several things, a timer that fires at event e
// among them.
func (x *explainer) awaits(c *suspect, e int) bool {
	first := &x.Base.Events[c.First]
	switch ops.Does(first.Op) {
	case ops.Select, ops.Communicate, ops.Poll, ops.Wait:
	default:
		return false
	}
	if x.named(c) != unnamed || e < c.First || c.Second >= 0 && !c.Waiting && e > c.Second {
		return false
	}
	return !slices.ContainsFunc(x.Base.Events[c.First+1:e], func(ev trace.Event) bool { return ev.Thread == first.Thread && ev.Flags&trace.FlagNoDecision == 0 })
}

// expiry returns the ordering of event e, by which a timer fires, and the first event that has to come before it for the base not to
// fail; nil if no such event is known.
func (x *explainer) expiry(ctx context.Context, e int) (*suspect, error) {
	later, err := x.Run(ctx, x.Reordered(experiment.First(e)))
	if err != nil || later.Trace == nil || later.Verdict != experiment.Passes {
		return nil, err
	}
	end := len(later.Trace.Events)
	if at := later.At(e); at >= 0 {
		end = at
	}
	fails, passes := e, end // with so many events before it
	r, err := x.fires(ctx, e, later, fails, end)
	if err != nil || r.Verdict != experiment.Same {
		return nil, err
	}
	var passing *experiment.Result
	for passes-fails > 1 {
		mid := (fails + passes) / 2
		r, err := x.fires(ctx, e, later, mid, end)
		if err != nil {
			return nil, err
		}
		switch r.Verdict {
		case experiment.Passes:
			passes, passing = mid, r
		case experiment.Same, experiment.Other:
			fails = mid
		default:
			return nil, nil
		}
	}
	if passing == nil {
		passing = later
	}
	other := operation(later.Trace, passes-1)
	ev := &later.Trace.Events[other]
	if auxiliary(ev.Op) || ev.Flags&trace.FlagNoDecision != 0 || ops.Of(ev.Op).Blocks == ops.UntilTime {
		return nil, nil
	}
	found := report.Order{First: e, Second: -1, Controlled: true, Executions: 1}
	if found.InPassing = experiment.Match(later.Trace, passing.Trace).Of(other); found.InPassing < 0 {
		return nil, nil
	}
	if second := experiment.Match(later.Trace, x.Base).Of(other); second > e {
		found.Second, found.InPassing = second, 0
	}
	return &suspect{Order: found, passing: passing.Trace}, nil
}

// fires executes the first events of an execution in which a timer that fires at event e of the base fires later, at event end, and then lets
// it fire. If it calls a function, that goes as far as in the base.
func (x *explainer) fires(ctx context.Context, e int, in *experiment.Result, first, end int) (*experiment.Result, error) {
	y := x.On(in.Trace, in.Plan)
	plan := y.Reordered(experiment.First(first))
	own := &x.Base.Events[e]
	plan.Threads = slices.Clone(in.Trace.Threads)
	number := func(of trace.ThreadID) trace.ThreadID {
		th := slices.IndexFunc(plan.Threads, func(t trace.Thread) bool { return t.Name == x.Base.Threads[of].Name })
		if th < 0 {
			th = len(plan.Threads)
			plan.Threads = append(plan.Threads, x.Base.Threads[of])
		}
		return trace.ThreadID(th)
	}
	step := schedule.Step{Thread: number(own.Thread), Wake: -1, Site: own.Site, Op: own.Op, Timeout: true}
	for i := first; i < end; i++ { // of Go's timers, the earlier ones fire first
		if ev := &in.Trace.Events[i]; ev.Op == own.Op && own.Op == trace.OpTimerFire && ev.Value < own.Value {
			plan.Script = append(plan.Script, step)
		}
	}
	plan.Script = append(plan.Script, step)
	if th, ok := calls(x.Base, e); ok {
		runs := slices.DeleteFunc(slices.Clone(x.Base.Events), func(ev trace.Event) bool { return ev.Thread != th })
		for i := range runs {
			runs[i].Thread = number(th)
		}
		plan.Script = append(plan.Script, experiment.Steps(runs)...)
	}
	return y.Run(ctx, plan)
}

// calls returns the goroutine that calls the function of a timer which fires at an event.
func calls(t *trace.Trace, e int) (th trace.ThreadID, ok bool) {
	for i := e + 1; i < len(t.Events) && t.Events[i].Thread == t.Events[e].Thread && t.Events[i].Op != t.Events[e].Op; i++ {
		if child, ok := t.Events[i].Child(); ok {
			return child, true
		}
	}
	return 0, false
}
