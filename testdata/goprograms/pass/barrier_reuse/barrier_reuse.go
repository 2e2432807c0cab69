// kind: clean

// Package barrierreuse is a barrier with a number for each round, by which those who leave go.
package barrierreuse

import "sync"

// Barrier lets n goroutines wait for each other, round after round.
type Barrier struct {
	mu      sync.Mutex
	cond    *sync.Cond
	n       int
	arrived int
	round   int
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
		b.round++
		b.cond.Broadcast()
		return
	}
	for round := b.round; b.round == round; {
		b.cond.Wait()
	}
}
