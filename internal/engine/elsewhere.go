package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// ReplayElsewhere follows the schedule of a recording, decision by decision, in another build of
// the same source that behaves the same but is instrumented differently. where maps a site to the
// corresponding instruction of that build, or returns false if it has none. The outcome is recorded
// and not judged. If the execution diverges, its ending is Diverged.
func ReplayElsewhere(ctx context.Context, t target.Target, recorded *trace.Trace, where func(trace.Site) (trace.Site, bool)) (schedule.Outcome, error) {
	if err := trace.CheckPoints(recorded.Header, schedule.PointsVersion); err != nil {
		return schedule.Outcome{}, err
	}
	plan := replayPlan(recorded)
	plan.Accesses = false
	plan.Points = slices.Clone(plan.Points)
	for i := range plan.Script {
		s := &plan.Script[i]
		site, ok := where(s.Site)
		if !ok {
			return schedule.Outcome{}, &ElsewhereError{s.Op, place(recorded.Modules, s.Site)}
		}
		s.Site = site
	}
	// Scheduling points that the schedule never reaches may be missing in the other build.
	known := plan.Points[:0]
	for _, s := range plan.Points {
		if site, ok := where(s); ok {
			known = append(known, site)
		}
	}
	plan.Points = known
	return t.Run(ctx, plan)
}

// ElsewhereError reports that the other build has no instruction corresponding to one in the
// schedule.
type ElsewhereError struct {
	Op    trace.Op
	Where string
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the schedule has %v at %s, which the other build does not have, or not in the same place", e.Op, e.Where)
}
