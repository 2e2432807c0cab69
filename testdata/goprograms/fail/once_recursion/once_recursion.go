// kind: deadlock
// finding: Default

// Package oncerecursion falls back to its default inside the Once that computes the default,
// if no setting has been stored in time.
package oncerecursion

import (
	"sync"
	"sync/atomic"
)

// Settings has a limit that can be set before its first use.
type Settings struct {
	set   atomic.Int64
	once  sync.Once
	limit int64
}

// Default computes the limit once.
func (s *Settings) Default() int64 {
	s.once.Do(func() {
		s.limit = s.Limit() * 2
	})
	return s.limit
}

// Limit is the stored limit or else the default.
func (s *Settings) Limit() int64 {
	if n := s.set.Load(); n != 0 {
		return n
	}
	return s.Default()
}

// cause: set: s.set.Load()
