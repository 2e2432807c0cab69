// kind: clean

// Package doublecheckedinit reads an atomic flag before it takes the lock.
package doublecheckedinit

import (
	"sync"
	"sync/atomic"
)

// Table is computed at its first use.
type Table struct {
	mu    sync.Mutex
	ready atomic.Bool
	sines []float64
}

// Get returns the table.
func (t *Table) Get() []float64 {
	if !t.ready.Load() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.ready.Load() {
			t.sines = []float64{0, 0.5, 1}
			t.ready.Store(true)
		}
	}
	return t.sines
}
