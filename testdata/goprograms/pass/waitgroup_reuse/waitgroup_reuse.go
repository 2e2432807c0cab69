// kind: clean

// Package waitgroupreuse uses a new WaitGroup for each round.
package waitgroupreuse

import "sync"

// Rounds lets others wait for the end of the current round.
type Rounds struct {
	mu sync.Mutex
	wg *sync.WaitGroup
}

// Begin begins a round.
func (r *Rounds) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wg = new(sync.WaitGroup)
	r.wg.Add(1)
}

// End ends the round.
func (r *Rounds) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wg.Done()
}

// Wait waits for the end of the current round.
func (r *Rounds) Wait() {
	r.mu.Lock()
	wg := r.wg
	r.mu.Unlock()
	wg.Wait()
}
