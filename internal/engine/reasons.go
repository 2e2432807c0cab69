package engine

import (
	"context"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/report"
)

// reasonSamples is how many schedules that have nothing in common with the base are executed before a failure is said not to depend on the
// schedule.
const reasonSamples = 100

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
