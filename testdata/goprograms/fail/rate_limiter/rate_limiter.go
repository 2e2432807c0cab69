// kind: test failure
// finding: same slot

// Package ratelimiter waits for the next free slot and books it after the wait, as if nobody
// else could ask in that time.
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
	l.mu.Unlock()

	time.Sleep(time.Until(slot))

	l.mu.Lock()
	l.next = slot.Add(l.interval)
	l.mu.Unlock()
	return slot
}

// cause: next: slot := l.next | l.next = slot.Add
