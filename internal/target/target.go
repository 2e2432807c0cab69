// Package target runs programs under plans. Only the packages below it know what kind of program a
// target is and how it is controlled.
package target

import (
	"context"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Target is a program ready to be executed repeatedly. Its methods may be called from one goroutine
// at a time, except for Modules. Their errors are heddle's own failures (the target was lost, the
// program is not supported); the program's bugs are outcomes.
type Target interface {
	// Run runs one execution, which starts from the same state whatever ran before. It satisfies
	// schedule.Executor.
	Run(context.Context, schedule.Plan) (schedule.Outcome, error)

	// Stream takes plans from next and calls done after each execution, in order, with the plan it
	// belongs to. Plans are queued ahead of the program, so next is called before the outcomes of
	// earlier plans are known. next returns false when it has no plan for now; it is asked again
	// after each outcome. Stream returns when all plans have ended and next returns false, or
	// early, without error, when done returns false. Where a target cannot undo what an execution
	// has changed, later executions of the stream start from the changed state.
	Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error

	// Header describes the program for a trace. The caller fills in Strategy, Points and
	// ExpectStatus.
	Header() trace.Header
	// Modules returns the modules that the program has loaded; sites refer to them by index. It may
	// be called from any goroutine.
	Modules() []trace.Module

	Close() error
}
