package engine

import (
	"context"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// settingOf returns the setting of experiments on an execution of the target's program, nil for none, judged by v.
func settingOf(t target.Target, recorded *trace.Trace, v verdict) experiment.Setting {
	s := experiment.Setting{Recorded: recorded, Run: judged(t, v), Budget: stepsFor, Modules: t.Modules, Delays: schedule.NoDelays}
	if recorded != nil && recorded.Ending.Kind != trace.Race { // what a race leads to may come later
		s.Cut = cutLike(recorded)
	}
	if v.endless() {
		v.like, v.header = nil, nil
		s.Longer = judged(t, v)
	}
	return s
}

// repeated executes the plan of a recorded execution with all accesses, and makes it the base of an experiment. It is an error if
// it cannot be recorded.
func repeated(ctx context.Context, x *experiment.Experiment, t target.Target, p schedule.Plan) (*experiment.Result, error) {
	r, err := x.Repeat(ctx, p, experiment.Everything)
	if err == nil {
		err = unrecorded(t, &r.Outcome)
	}
	return r, err
}
