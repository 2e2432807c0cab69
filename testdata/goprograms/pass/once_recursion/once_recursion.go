// kind: clean

// Package oncerecursion falls back to its default outside of the Once.
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
		s.limit = 10
		if n := s.set.Load(); n != 0 {
			s.limit = n * 2
		}
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
