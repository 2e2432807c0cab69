// kind: clean

// Package doubleunlock is a lock that its holder releases and that can be taken away; who
// finds it held marks it as free in the same step.
package doubleunlock

import (
	"sync"
	"sync/atomic"
)

// Guard is a lock that can be taken away from its holder.
type Guard struct {
	mu   sync.Mutex
	held atomic.Bool
}

// Acquire takes the lock.
func (g *Guard) Acquire() {
	g.mu.Lock()
	g.held.Store(true)
}

// Release gives the lock back, unless it was taken away.
func (g *Guard) Release() {
	if g.held.CompareAndSwap(true, false) {
		g.mu.Unlock()
	}
}
