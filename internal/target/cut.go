package target

import (
	"time"

	"github.com/heddle-dev/heddle/schedule"
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

// StuckError is the error of starting a program whose context ended before its first execution was over.
// It wraps the context's error.
type StuckError struct {
	Where []string // what each of its threads did, and where, a line each
	Err   error    // the context's
}

func (e *StuckError) Error() string { return e.Err.Error() }

func (e *StuckError) Unwrap() error { return e.Err }
