package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// mostShown is how many events a trace gains at most for the accesses that its explanation names.
const mostShown = 20_000

// shown executes the recorded schedule with the accesses that an explanation names as scheduling points, so that they are events of
// the trace and have numbers. all is the same execution with all accesses, which the explanation speaks of. It returns nil if the recorded trace
// has them, or cannot have them.
func shown(ctx context.Context, t target.Target, recorded, all *trace.Trace, e *report.Explanation) *trace.Trace {
	numbers := report.Contained(all, recorded)
	points := lacking(all, numbers, e)
	if len(points) == 0 || recorded.Header.FairAfter != 0 { // virtual time counts scheduling points then
		return nil
	}
	events, kept := all.Events[:0:0], 0
	for i := range all.Events {
		ev := all.Events[i]
		switch {
		case numbers[i] >= 0:
			ev = recorded.Events[numbers[i]]
			kept++
		case !slices.Contains(points, ev.Site) || !mayStop(&ev):
			continue
		}
		if slices.Contains(points, ev.Site) && mayStop(&ev) {
			ev.Flags &^= trace.FlagNoDecision
		}
		events = append(events, ev)
	}
	if kept < len(recorded.Events) || len(events) > kept+mostShown {
		return nil
	}
	plan := replayPlan(recorded)
	plan.Points = slices.Compact(slices.Sorted(slices.Values(slices.Concat(recorded.Header.Points, points))))
	plan.Script = schedule.Steps(events)
	plan.MaxSteps = max(plan.MaxSteps, stepsFor(recorded, plan.Points))
	if recorded.Ending.Kind.Endless() || plan.Cut {
		plan.MaxSteps = len(plan.Script)
	}
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true
	o, err := judged(t, v)(ctx, plan)
	if err != nil || o.Trace == nil || len(o.Trace.Events) != len(events) || o.Ending.Kind != recorded.Ending.Kind {
		return nil
	}
	out := o.Trace
	if slices.Contains(report.Contained(all, out), -1) && len(lacking(all, report.Contained(all, out), e)) > 0 {
		return nil
	}
	own := out.Header
	out.Header = recorded.Header.Executed(own)
	out.Header.Points, out.Header.Signature = plan.Sites(), own.Signature
	return out
}

// mayStop reports whether the instruction of an event can be a scheduling point because a plan names it.
func mayStop(ev *trace.Event) bool { return ev.Op.IsAccess() || ev.Op == trace.OpFree }

// lacking returns the instructions of the events that an explanation names and that have no number, if they can be scheduling points.
func lacking(all *trace.Trace, numbers []int, e *report.Explanation) (points []trace.Site) {
	parts := experiment.Parts(all)
	for _, i := range e.Named() {
		if ev := &all.Events[i]; numbers[i] < 0 && mayStop(ev) && !parts[ev.Site] && !slices.Contains(points, ev.Site) {
			points = append(points, ev.Site)
		}
	}
	return points
}

// Show gives a trace the events that the explanation names and that it lacks, if there are any, and the explanation their numbers.
func (c *Cause) Show(explained *trace.Trace) {
	if c.Shown == nil {
		return
	}
	*explained = *c.Shown
	c.InBase.Number(c.Base, explained)
	e := c.InBase.InTrace()
	e.Passing = c.Passing
	c.Explanation, c.Shown = *e, nil
}
