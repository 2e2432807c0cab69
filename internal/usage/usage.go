// Package usage marks errors that are the command line's: it parsed, but makes no sense. heddle
// ends with its own exit status for them.
package usage

import "fmt"

// Error is a mistake in the command line.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Wrap makes err an *Error; nil stays nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Errorf is fmt.Errorf for an *Error.
func Errorf(format string, args ...any) error { return Wrap(fmt.Errorf(format, args...)) }
