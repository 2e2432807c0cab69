// kind: test failure
// finding: not ready after the sleep

// Package sleepassync sleeps as long as the other goroutine needs instead of waiting for it.
package sleepassync

import (
	"sync/atomic"
	"time"
)

// Service needs a while to start.
type Service struct {
	started, done chan struct{}
	ready         atomic.Bool
}

// Start begins to start the service.
func Start(d time.Duration) *Service {
	s := &Service{started: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.started <- struct{}{}
		time.Sleep(d)
		s.ready.Store(true)
	}()
	return s
}

// Ready waits for the service and reports whether it is ready.
func (s *Service) Ready(d time.Duration) bool {
	<-s.started
	time.Sleep(d)
	return s.ready.Load()
}

// cause: ready: s.ready.Store(true) | return s.ready.Load()
