package target

import (
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// CutError is the error of Run and Stream if their context ended while an execution was running. It wraps the
// context's error.
type CutError struct {
	Plan schedule.Plan // of the execution, with Repeat as it was given
	// Outcome says how far the execution had come: its Ending is of kind trace.Unfinished and has a waiter for each
	// thread that lived. It is recorded if the plan asked for that.
	Outcome schedule.Outcome
	// Still is how long it had shown no sign of life, as the watchdog measures it.
	Still time.Duration
	Err   error // the context's
}

func (e *CutError) Error() string { return e.Err.Error() }

func (e *CutError) Unwrap() error { return e.Err }

// Position is where a running execution is.
type Position struct {
	For    time.Duration // since it began
	Points int           // scheduling points that it has passed
	Thread trace.ThreadID
	Site   trace.Site // of the last of them, 0 if it has passed none
}

// Positioned is the ability to tell where the running execution is.
type Positioned interface {
	// Position returns where the execution is that has run for a second or longer, and false if none has. It may be
	// called from any goroutine.
	Position() (Position, bool)
}
