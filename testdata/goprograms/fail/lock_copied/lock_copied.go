// kind: data race|test failure

// Package lockcopied has a method with a value receiver, which locks a copy of the mutex.
package lockcopied

import "sync"

// Hits counts hits in a counter of its owner's.
type Hits struct {
	mu    sync.Mutex
	count *int
}

// Hit counts.
func (h Hits) Hit() {
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.count++
}

// cause: count: *h.count++
