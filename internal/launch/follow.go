package launch

import (
	"context"
	"errors"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// Follow runs the schedule of a trace: exactly, if the program is the same, and otherwise as
// closely as the program permits.
func Follow(ctx context.Context, t target.Target, tr *trace.Trace) (met *trace.Trace, changed bool, err error) {
	relocate(tr, t.Modules())
	met, err = engine.Replay(ctx, t, tr)
	var other *engine.OtherProgramError
	var diverged *engine.DivergedError
	switch {
	case err == nil:
		met.Explanation = tr.Explanation // it counts only if the events are the same to the last value
		return met, false, nil
	case errors.As(err, &other), errors.As(err, &diverged):
		met, err = engine.Follow(ctx, t, tr, report.NewRunning(t.Modules).Locate)
		return met, true, err
	}
	return nil, false, err
}
