// kind: clean

// Package goschedspin draws a ticket by one atomic addition.
package goschedspin

import (
	"runtime"
	"sync/atomic"
)

// TicketLock serves goroutines in order of arrival.
type TicketLock struct {
	next, serving atomic.Int32
}

// Lock waits for its turn.
func (l *TicketLock) Lock() {
	ticket := l.next.Add(1) - 1
	for l.serving.Load() != ticket {
		runtime.Gosched()
	}
}

// Unlock lets the next one in.
func (l *TicketLock) Unlock() { l.serving.Add(1) }
