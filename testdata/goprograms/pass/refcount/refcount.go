// kind: clean

// Package refcount takes another reference by a compare-and-swap from a count that is not 0.
package refcount

import "sync/atomic"

// File is open while it has references.
type File struct {
	refs   atomic.Int32
	closed atomic.Bool
}

// Retain takes a reference, if there is one.
func (f *File) Retain() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives a reference up and closes the file with the last.
func (f *File) Release() {
	if f.refs.Add(-1) == 0 {
		f.closed.Store(true)
	}
}
