// kind: deadlock
// finding: relay

// Package manygoroutinesneedle runs fifty goroutines of which the last to arrive passes a
// baton to the right neighbour of the first or, if it is that itself, to the left neighbour of
// the second. Only if it stands between the first and the second does it wait for itself: one
// order of arrivals in 2,352.
package manygoroutinesneedle

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const runners = 50

// Race is a circle of runners.
type Race struct {
	start   chan struct{}
	arrived atomic.Int32
	first   atomic.Int32 // number of the runner, from 1; 0: not known yet
	second  atomic.Int32
	baton   [runners]chan struct{}
	over    chan struct{}
	ended   sync.WaitGroup
}

// Run runs all of them and returns how many arrived.
func (r *Race) Run() int32 {
	r.start, r.over = make(chan struct{}), make(chan struct{})
	for i := range r.baton {
		r.baton[i] = make(chan struct{})
	}
	r.ended.Add(runners)
	for i := range r.baton {
		go r.relay(i * 31 % runners) // neighbours do not start one after the other
	}
	close(r.start)
	r.ended.Wait()
	return r.arrived.Load()
}

// number waits until a goroutine has arrived at a place, and returns its number.
func number(place *atomic.Int32) int {
	for place.Load() == 0 {
		runtime.Gosched()
	}
	return int(place.Load()) - 1
}

func (r *Race) relay(i int) {
	defer r.ended.Done()
	<-r.start
	switch r.arrived.Add(1) {
	case 1:
		r.first.Store(int32(i) + 1)
	case 2:
		r.second.Store(int32(i) + 1)
	case runners:
		receiver := (number(&r.first) + 1) % runners
		if receiver == i {
			receiver = (number(&r.second) + runners - 1) % runners
		}
		r.baton[receiver] <- struct{}{}
		return
	}
	select {
	case <-r.baton[i]:
		close(r.over)
	case <-r.over:
	}
}

// cause: arrived: r.arrived.Add(1)
