// Package filelock takes advisory locks on files, without waiting for them.
//
// The lockedfile packages of Go and of go-internal only wait, cannot be cancelled, and fail on
// file systems that have no locks.
package filelock

import "errors"

// ErrLocked is in the error of Try for a file that another process has locked, or another open
// file of this one.
var ErrLocked = errors.New("locked by another process")
