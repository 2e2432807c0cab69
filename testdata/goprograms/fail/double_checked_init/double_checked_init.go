// kind: data race|test failure

// Package doublecheckedinit reads a plain flag before it takes the lock.
package doublecheckedinit

import "sync"

// Table is computed at its first use.
type Table struct {
	mu    sync.Mutex
	ready bool
	sines []float64
}

// Get returns the table.
func (t *Table) Get() []float64 {
	if !t.ready {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.ready {
			t.ready = true
			t.sines = []float64{0, 0.5, 1}
		}
	}
	return t.sines
}

// cause: sines: t.sines = []float64 | return t.sines
