package hb

import "github.com/heddle-dev/heddle/trace"

// Order is happens-before over the events of one recorded execution.
type Order struct {
	epochs []Epoch
	clocks []Clock // shared between neighbouring events that know the same
}

// Of orders events, which must be a whole execution in recorded order. It takes memory for each
// event, and for each time a thread learnt of another.
func Of(events []trace.Event) *Order {
	o := &Order{epochs: make([]Epoch, len(events)), clocks: make([]Clock, len(events))}
	engine := New()
	type snapshot struct {
		version int
		clock   Clock
	}
	last := map[trace.ThreadID]snapshot{}
	for i := range events {
		engine.Event(&events[i])
		t := engine.thread(events[i].Thread)
		s, ok := last[t.id]
		o.epochs[i] = engine.epoch(t)
		if !ok || s.version != t.version {
			s = snapshot{version: t.version}
			s.clock.set(&t.clock)
			last[t.id] = s
		}
		o.clocks[i] = s.clock
	}
	return o
}

// Before reports whether event i happened before event j.
func (o *Order) Before(i, j int) bool {
	a := o.epochs[i]
	if i >= j || a.Chain() == o.epochs[j].Chain() {
		return i < j // the snapshot's own time is not updated
	}
	return o.clocks[j].Covers(a)
}

// Concurrent reports whether events i and j are different and neither happened before the
// other.
func (o *Order) Concurrent(i, j int) bool { return i != j && !o.Before(i, j) && !o.Before(j, i) }
