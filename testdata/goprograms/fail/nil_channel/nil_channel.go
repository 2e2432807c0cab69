// kind: deadlock
// finding: Next

// Package nilchannel has a channel that exists once Start has run; who asks before that waits
// on a nil channel forever.
package nilchannel

import "sync"

// Source hands out numbers after Start.
type Source struct {
	mu sync.Mutex
	ch chan int
}

// NewSource makes a source that is not started.
func NewSource() *Source {
	return new(Source)
}

// Start begins to hand out.
func (s *Source) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ch = make(chan int, 1)
	s.ch <- 42
}

// Next waits for a number.
func (s *Source) Next() int {
	s.mu.Lock()
	ch := s.ch
	s.mu.Unlock()
	return <-ch
}

// cause: ch: s.ch = make | ch := s.ch
