// kind: deadlock
// finding: Acquire

// Package condsignalnotbroadcast wakes one waiter when units are given back, although waiters
// need different numbers: the woken goroutine may not be the one that can continue.
package condsignalnotbroadcast

import "sync"

// Units are acquired several at a time.
type Units struct {
	mu   sync.Mutex
	cond *sync.Cond
	free int
}

// NewUnits makes n free units.
func NewUnits(n int) *Units {
	u := &Units{free: n}
	u.cond = sync.NewCond(&u.mu)
	return u
}

// Acquire waits for n units.
func (u *Units) Acquire(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.free < n {
		u.cond.Wait()
	}
	u.free -= n
}

// Release gives n units back.
func (u *Units) Release(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.free += n
	u.cond.Signal()
}

// cause: : u.cond.Signal() | u.cond.Wait()
