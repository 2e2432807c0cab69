// kind: deadlock
// finding: Wait

// Package condlostwakeup waits on a condition variable without looking whether what it waits
// for has happened already; a signal that comes first is lost.
package condlostwakeup

import "sync"

// Latch is opened once.
type Latch struct {
	mu   sync.Mutex
	cond *sync.Cond
	open bool
}

// NewLatch makes a closed latch.
func NewLatch() *Latch {
	l := new(Latch)
	l.cond = sync.NewCond(&l.mu)
	return l
}

// Open opens the latch.
func (l *Latch) Open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = true
	l.cond.Broadcast()
}

// Wait waits until the latch is open.
func (l *Latch) Wait() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cond.Wait()
	return l.open
}

// cause: : l.cond.Broadcast() | l.cond.Wait()
