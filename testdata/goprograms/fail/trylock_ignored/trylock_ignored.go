// kind: test failure
// finding: update was dropped
// minimum: switches=4

// Package trylockignored drops an update if it does not get the lock at once.
//
// Fewest switches: one tries while the other holds the lock, so its interval lies between two
// of the other's; the test's goroutine comes before and after: five intervals.
package trylockignored

import "sync"

// Stats counts updates.
type Stats struct {
	mu      sync.Mutex
	updates int
}

// Update counts.
func (s *Stats) Update() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.updates++
}

// cause: mu: s.mu.TryLock() | defer s.mu.Unlock()
