// kind: deadlock
// finding: Total

// Package rwmutexrecursiveread reads under the read lock and calls a method that takes the
// read lock again; a writer that comes in between blocks the second one.
package rwmutexrecursiveread

import "sync"

// Stock counts items of two kinds.
type Stock struct {
	mu          sync.RWMutex
	red, yellow int
}

func (s *Stock) get(of *int) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return *of
}

// Total counts all items.
func (s *Stock) Total() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.get(&s.red) + s.get(&s.yellow)
}

// Repaint makes a red item yellow.
func (s *Stock) Repaint() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.red--
	s.yellow++
}

// cause: mu: s.mu.RLock() | s.mu.Lock()
