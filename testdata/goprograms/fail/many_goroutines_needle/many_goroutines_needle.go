// heddle: kind=deadlock text="relay"

// Package manygoroutinesneedle runs fifty goroutines of which the last to arrive passes a
// baton to the right neighbour of the first; only if that neighbour is itself the last does it
// wait for itself.
package manygoroutinesneedle

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const runners = 50

// Race is a circle of runners.
type Race struct {
	arrived atomic.Int32
	first   atomic.Int32
	baton   [runners]chan struct{}
	over    chan struct{}
	ended   sync.WaitGroup
}

// Run runs all of them.
func (r *Race) Run() int32 {
	r.over = make(chan struct{})
	for i := range r.baton {
		r.baton[i] = make(chan struct{})
	}
	r.ended.Add(runners)
	for i := range r.baton {
		go r.relay(i)
	}
	r.ended.Wait()
	return r.arrived.Load()
}

func (r *Race) relay(i int) {
	defer r.ended.Done()
	switch r.arrived.Add(1) {
	case 1:
		r.first.Store(int32(i) + 1)
	case runners:
		for r.first.Load() == 0 { // the first has arrived, but not yet said so
			runtime.Gosched()
		}
		receiver := int(r.first.Load()) - 1
		r.baton[(receiver+1)%runners] <- struct{}{}
		return
	}
	select {
	case <-r.baton[i]:
		close(r.over)
	case <-r.over:
	}
}
