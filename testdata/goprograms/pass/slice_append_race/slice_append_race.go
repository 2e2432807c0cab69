// kind: clean

// Package sliceappendrace appends to one slice from two goroutines under a lock.
package sliceappendrace

import "sync"

// Errors collects errors.
type Errors struct {
	mu   sync.Mutex
	list []error
}

// Add appends an error.
func (e *Errors) Add(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, err)
}
