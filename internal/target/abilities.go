package target

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/schedule"
)

// A target may be able to do more than Target asks of it. Each ability is an interface in this
// file, and As finds it: nobody else asks a target what type it is.

// As returns t with the ability T, looking through targets that wrap others (see Wrapper). ok is
// false if neither t nor a target that it wraps has the ability.
func As[T any](t Target) (ability T, ok bool) {
	for t != nil {
		if a, ok := t.(T); ok {
			return a, true
		}
		w, ok := t.(Wrapper)
		if !ok {
			break
		}
		t = w.Unwrap()
	}
	return ability, false
}

// Wrapper is a target that adds something to another one and otherwise leaves everything to it.
type Wrapper interface {
	Target
	Unwrap() Target
}

// Stillness is the ability to tell a running execution from one that hangs.
type Stillness interface {
	// Still returns how long the present execution has given no sign of life, as the
	// target's watchdog sees it, and 0 between executions. When it has grown to the
	// watchdog's limit, the watchdog ends the execution. Still may be called from any
	// goroutine.
	Still() time.Duration
}

// Omitter is the ability to leave out synchronisation calls that were named when the target was
// started.
type Omitter interface {
	// Omitted returns how often each of the calls has been left out, in the order in which
	// they were named.
	Omitted() []Omission
}

// Omission is a call that is left out.
type Omission struct {
	Call  string // as the user named it, CALL@FILE:LINE
	Times uint64 // how often it has been left out in all executions so far
}

// Debuggable is the ability to do one execution with gdb or lldb attached to its process.
type Debuggable interface {
	// Debug does one execution as Target.Run does and returns when the debugger has ended,
	// with the outcome if ended says that the execution had ended by then. The debugger has
	// heddle's standard files and terminal. events is how many events the plan leads to, for
	// the debugger's messages.
	Debug(ctx context.Context, debugger Debugger, plan schedule.Plan, events int) (o schedule.Outcome, ended bool, err error)
}

// Debugger is a program that understands gdb's command line, or lldb's.
type Debugger struct {
	Path string
	LLDB bool
}

// DebugLaunchable is the ability to do one execution in a process that a debugger starts, as
// Delve does with Go programs.
type DebugLaunchable interface {
	// Debug does one execution as Target.Run does and returns when the debugger has ended.
	// debugger is its command line; the program's arguments follow. The debugger has heddle's
	// standard files and terminal.
	Debug(ctx context.Context, debugger []string, plan schedule.Plan) error
}
