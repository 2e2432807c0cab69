// kind: panic|data race

// Package waitgroupreuse uses one WaitGroup for round after round; the next round can begin
// before a waiter of the last one has returned from Wait.
package waitgroupreuse

import "sync"

// Rounds lets others wait for the end of the current round.
type Rounds struct {
	wg sync.WaitGroup
}

// Begin begins a round.
func (r *Rounds) Begin() {
	r.wg.Add(1)
}

// End ends the round.
func (r *Rounds) End() {
	r.wg.Done()
}

// Wait waits for the end of the current round.
func (r *Rounds) Wait() {
	r.wg.Wait()
}

// cause: : r.wg.Wait() | r.wg.Done()
