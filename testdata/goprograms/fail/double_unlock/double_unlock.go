// kind: fatal error
// finding: unlock of unlocked mutex
// minimum: switches=2

// Package doubleunlock is a lock that its holder releases and that can be taken away; both
// look whether it is held and then unlock it.
//
// Fewest switches: both looks come before the flag is cleared. The test's goroutine looks, the
// other one looks, clears and unlocks, and the first one unlocks again: three intervals.
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
	if g.held.Load() {
		g.held.Store(false)
		g.mu.Unlock()
	}
}

// cause: held: g.held.Load() | g.held.Store(false)
