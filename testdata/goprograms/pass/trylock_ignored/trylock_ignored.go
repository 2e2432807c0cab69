// kind: clean

// Package trylockignored waits for the lock.
package trylockignored

import "sync"

// Stats counts updates.
type Stats struct {
	mu      sync.Mutex
	updates int
}

// Update counts.
func (s *Stats) Update() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates++
}
