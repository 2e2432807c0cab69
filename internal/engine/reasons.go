package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// reasonSamples is how many schedules that have nothing in common with the base are executed before a failure is said not to depend on the
// schedule.
const reasonSamples = 100

// unscheduled reports whether an execution that does not end has one thread, which does nothing whose result a schedule may decide: no execution
// is needed to know that the schedule does not matter, and each would take as long as this one.
func unscheduled(t *trace.Trace) bool {
	return (t.Ending.Kind == trace.Hang || t.Ending.Kind == trace.Livelock) && len(t.Threads) == 1 &&
		!slices.ContainsFunc(t.Events, func(ev trace.Event) bool {
			s := ops.Of(ev.Op)
			switch s.Of {
			case ops.Signal, ops.Timer, ops.Process, ops.Descriptor, ops.Condition, ops.Futex:
				return true
			}
			return s.Does == ops.Opaque || s.Does == ops.Select || ev.Flags&trace.FlagTimeout != 0
		})
}

// reason says why no ordering is named.
func (x *explainer) reason(ctx context.Context) error {
	c := &x.critical
	for n := 0; n < reasonSamples && x.Complete() && x.Verdicts(experiment.Passes) == 0; n++ {
		if _, err := x.Run(ctx, x.Sample(n, x.Plan.Seed)); err != nil {
			if unlessLimit(err) != nil {
				return err
			}
			break
		}
	}
	c.Passed = x.Verdicts(experiment.Passes)
	switch {
	case !x.Complete():
		c.Reason = x.limit()
	case x.External():
		c.Reason = report.WaitsOutside
	case c.Passed > 0, x.passes:
		c.Reason = report.NoOrder
	case x.Verdicts(experiment.Other) > 0:
		c.Reason = report.FailsOtherwise
	case x.Verdicts(experiment.Unknown) > 0:
		c.Reason = report.NotEnded
	default:
		c.Reason = report.AlwaysFails
	}
	return nil
}

// limit is the reason that a limit was reached first.
func (x *explainer) limit() report.Unexplained {
	if x.OutOfTime() {
		return report.OutOfTime
	}
	return report.OutOfRuns
}
