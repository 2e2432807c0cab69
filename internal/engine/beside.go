package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// WithValues executes a recorded schedule again and records every access to memory with its value. The execution is the recorded
// one: the error is a *DivergedError if it ends in another way, and those of Replay where that cannot run.
func WithValues(ctx context.Context, t target.Target, recorded *trace.Trace) (*trace.Trace, error) {
	plan, err := ReplayPlan(t, recorded)
	if err != nil {
		return nil, err
	}
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true
	o, err := judged(t, v)(ctx, experiment.Everything(plan))
	if err != nil {
		return nil, err
	}
	if err := unrecorded(t, &o); err != nil {
		return nil, err
	}
	if o.Ending.Kind == trace.Diverged {
		d := o.Diverged
		if d == nil {
			d = &schedule.Divergence{Step: int(o.Ending.Status), Met: schedule.Step{Thread: -1}}
		}
		return nil, diverged(recorded, o.Trace, d)
	}
	a, b := &recorded.Ending, &o.Trace.Ending
	if a.Kind != b.Kind || a.Status != b.Status || a.Kind.Failed() && !experiment.SameFailure(*a, *b, t.Modules()) {
		return nil, &DivergedError{Event: len(recorded.Events), Field: "ending", RecordedText: endingText(recorded), MetText: endingText(o.Trace)}
	}
	o.Trace.Header.Strategy, o.Trace.Header.ExpectStatus = recorded.Header.Strategy, recorded.Header.ExpectStatus
	o.Trace.Header.Points, o.Trace.Header.Cut = recorded.Header.Points, recorded.Header.Cut
	return o.Trace, nil
}

// errFails reports that the execution of a schedule which is said to pass does not.
var errFails = errors.New("the execution does not pass any more")

// Passing executes a schedule of the program of a failing execution, in the form that schedule.Parse reads, that an explanation says
// does not fail. It is an error if the execution is another one by now.
func Passing(ctx context.Context, t target.Target, failing *trace.Trace, text string) (*trace.Trace, error) {
	script, threads, points, err := schedule.Parse(text)
	if err != nil {
		return nil, err
	}
	plan, err := ReplayPlan(t, failing)
	if err != nil {
		return nil, err
	}
	plan.Script, plan.Threads, plan.Points = script, threads, points
	plan = experiment.Everything(plan) // as an experiment does, so that it is the same trace
	plan.Cycles, plan.MaxSteps = false, room(len(script))
	if failing.Header.Cut > 0 {
		plan.Cut, plan.MaxSteps = true, len(script)
	}
	setting := settingOf(t, failing, verdictOf(failing, nil, nil))
	r, err := experiment.New(setting).Run(ctx, plan)
	if err != nil {
		return nil, err
	}
	if r.Verdict != experiment.Passes || r.Trace == nil {
		return nil, fmt.Errorf("%w: it ends with %v", errFails, r.Ending.Kind)
	}
	return r.Trace, nil
}

// NearestPassing executes the neighbours of a failing execution, at most limit, until one passes. It returns nil if none does, and
// how many executions it has made.
func NearestPassing(ctx context.Context, t target.Target, failing *trace.Trace, limit int, locate finding.Locate) (*trace.Trace, int, error) {
	n, err := neighbours(ctx, t, failing, failing, limit, locate, experiment.Passes)
	if err != nil {
		return nil, 0, err
	}
	return n.met, n.Executions, nil
}
