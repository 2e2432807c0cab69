// Package target runs programs under plans. What kind of program it is, and how it is
// controlled, is known only to the packages below this one.
package target

import (
	"context"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Target is a program ready to be executed again and again. Its methods may be called
// from one goroutine at a time. Errors are heddle's own failures (the target was lost,
// the program cannot be carried), never the program's bugs; those are outcomes.
type Target interface {
	// Run does one execution, whose beginning does not depend on any before it. It
	// satisfies schedule.Executor.
	Run(context.Context, schedule.Plan) (schedule.Outcome, error)

	// Stream feeds plans from next and calls done for each execution that ends, in order,
	// with the plan it belongs to. Plans are queued ahead of the program, so next is called
	// before the outcomes of earlier plans are known. When next returns false there is no
	// plan for now; it may be asked again after each outcome. Stream ends when all plans have
	// ended and next returns false, or early, without error, when done returns false. Where a target cannot undo
	// what an execution has left behind, those after it in the stream begin with that.
	Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error

	// Header describes the program for a trace; Strategy, Points and ExpectStatus are
	// the caller's to fill in.
	Header() trace.Header
	// Modules are what the program has loaded; sites refer to them by index.
	Modules() []trace.Module

	Close() error
}
