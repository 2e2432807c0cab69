package engine

import (
	"context"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// Fix is what executions of a program showed that has been changed since a failure was recorded, or that
// runs with a lock tried.
type Fix struct {
	// Followed is the execution that follows the recorded schedule as closely as the program lets it.
	Followed   *trace.Trace
	Neighbours *Neighbours // of Followed; nil if that failed
	Search     *Report     // nil if an execution before it failed
}

// CheckFix follows the schedule of a recorded failure, then executes at most limit neighbours of that execution,
// and then searches as opts say. It ends with the first execution that fails.
func CheckFix(ctx context.Context, t target.Target, recorded *trace.Trace, limit int, opts Options, progress func(Progress)) (*Fix, error) {
	out := &Fix{}
	var err error
	if out.Followed, err = Follow(ctx, t, recorded, opts.Locate); err != nil || out.Followed.Ending.Kind.Failed() {
		return out, err
	}
	if out.Neighbours, err = RunNeighbours(ctx, t, recorded, out.Followed, limit, opts.Locate); err != nil || out.Neighbours.Failing != nil {
		return out, err
	}
	opts.Races = RacesIgnored
	if recorded.Ending.Kind == trace.Race {
		opts.Races = RacesFail
	}
	opts.ExpectStatus = &recorded.Header.ExpectStatus
	out.Search, err = Find(ctx, t, opts, progress)
	return out, err
}

// SameFailure reports whether two executions of programs with the same modules fail in the same way.
func SameFailure(a, b *trace.Trace) bool {
	return finding.Of(a.Ending, a.Modules).Same(finding.Of(b.Ending, b.Modules))
}
