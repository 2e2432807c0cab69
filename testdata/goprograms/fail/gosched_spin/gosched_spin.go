// kind: hang
// finding: Lock

// Package goschedspin draws a ticket by a load and a store, so two can draw the same; then one
// number is never drawn, nobody moves on past it, and who holds a later ticket yields forever
// .
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
	ticket := l.next.Load()
	l.next.Store(ticket + 1)
	for l.serving.Load() != ticket {
		runtime.Gosched()
	}
}

// Unlock lets the next one in.
func (l *TicketLock) Unlock() { l.serving.Add(1) }

// cause: next: ticket := l.next.Load() | l.next.Store(ticket + 1)
