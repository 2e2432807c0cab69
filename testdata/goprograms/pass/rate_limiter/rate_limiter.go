// kind: clean

// Package ratelimiter books the next free slot and waits for it after that.
package ratelimiter

import (
	"sync"
	"time"
)

// Limiter hands out slots that are an interval apart.
type Limiter struct {
	mu       sync.Mutex
	interval time.Duration
	next     time.Time
}

// Wait waits for a slot and returns its time.
func (l *Limiter) Wait() time.Time {
	l.mu.Lock()
	slot := l.next
	if now := time.Now(); slot.Before(now) {
		slot = now
	}
	l.next = slot.Add(l.interval)
	l.mu.Unlock()

	time.Sleep(time.Until(slot))
	return slot
}
