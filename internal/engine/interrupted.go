package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/report"
)

// interrupted looks for what a signal handler does to its own thread, if no ordering of two threads' events says more: the failing executions near
// the base, and those that have nothing in common with it, have it, and those that do not fail have not.
func (x *explainer) interrupted(ctx context.Context) error {
	if len(x.confirmed) > 0 {
		switch ops.Of(x.Base.Events[x.confirmed[0].First].Op).Of {
		case ops.Signal, ops.Timer: // the handler may say more
		default:
			return nil
		}
	}
	found := pattern.Interruptions(x.Base)
	if len(found) == 0 {
		return nil
	}
	near, err := x.near(ctx)
	if err != nil {
		return err
	}
	tried := slices.Clone(near)
	for n := 0; n < confirmTries && len(tried) < 2*confirmSchedules && x.Room(1); n++ {
		r, err := x.Run(ctx, experiment.Everything(x.Sample(n, x.Plan.Seed)))
		if err != nil {
			return err
		}
		if r.Trace != nil && (r.Verdict == experiment.Same || r.Verdict == experiment.Passes) {
			tried = append(tried, r)
		}
	}
	for k := range found {
		i := &report.Interrupted{Interruption: found[k]}
		decides := true
		for _, r := range tried {
			has := false
			for _, o := range pattern.Interruptions(r.Trace) {
				has = has || found[k].Same(x.Base, &o, r.Trace)
			}
			if decides = decides && has == (r.Verdict == experiment.Same); has {
				i.Failed++
			} else {
				i.Passed++
			}
		}
		if decides && i.Passed > 0 && len(tried) >= confirmSchedules {
			x.critical.Interrupted = i
			return nil
		}
	}
	return nil
}
