// kind: deadlock
// finding: Await

// Package barrierreuse is a barrier that counts arrivals from 0 again for each round: one that
// is slow to leave sees the arrivals of the next round and waits on.
package barrierreuse

import "sync"

// Barrier lets n goroutines wait for each other, round after round.
type Barrier struct {
	mu      sync.Mutex
	cond    *sync.Cond
	n       int
	arrived int
}

// NewBarrier makes a barrier for n goroutines.
func NewBarrier(n int) *Barrier {
	b := &Barrier{n: n}
	b.cond = sync.NewCond(&b.mu)
	return b
}

// Await waits for the others.
func (b *Barrier) Await() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived++
	if b.arrived == b.n {
		b.arrived = 0
		b.cond.Broadcast()
		return
	}
	for b.arrived != 0 {
		b.cond.Wait()
	}
}

// cause: arrived: b.arrived++ | for b.arrived != 0
