// kind: test failure
// finding: closed file
// minimum: switches=2

// Package refcount takes another reference if the count is not 0, in two steps; the last
// reference can be given up between them.
//
// Fewest switches: the last reference is given up between the look and the addition. The
// test's goroutine looks, the other one closes, the test's goroutine adds and reads: three
// intervals.
package refcount

import "sync/atomic"

// File is open while it has references.
type File struct {
	refs   atomic.Int32
	closed atomic.Bool
}

// Retain takes a reference, if there is one.
func (f *File) Retain() bool {
	if f.refs.Load() == 0 {
		return false
	}
	f.refs.Add(1)
	return true
}

// Release gives a reference up and closes the file with the last.
func (f *File) Release() {
	if f.refs.Add(-1) == 0 {
		f.closed.Store(true)
	}
}

// cause: refs: f.refs.Load() == 0 | f.refs.Add(-1)
