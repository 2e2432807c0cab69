package hb

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Memory orders as compilers number them (__ATOMIC_*), in trace.FlagOrder.
const (
	orderRelaxed = 0
	orderConsume = 1
	orderAcquire = 2
	orderRelease = 3
	orderAcqRel  = 4
	orderSeqCst  = 5
)

// orderShift is where trace.FlagOrder begins.
const orderShift = 4

// memoryOrder splits an event's memory order. Numbers that no compiler emits count as the strongest
// order.
func memoryOrder(ev *trace.Event) (acquire, release bool) {
	switch (ev.Flags & trace.FlagOrder) >> orderShift {
	case orderRelaxed:
		return false, false
	case orderConsume, orderAcquire:
		return true, false
	case orderRelease:
		return false, true
	default:
		return true, true
	}
}

// atomic handles atomics. The clock released at a location is the one that an acquire receives when
// it reads the current value.
func (e *Engine) atomic(t *thread, ev *trace.Event) {
	acquire, release := memoryOrder(ev)
	if acquire && ev.Flags&(trace.FlagAssembly|trace.FlagVolatile) != 0 {
		e.volatiles.read(ev, t.take)
	}
	switch ops.Does(ev.Op) {
	case ops.Fence:
		if acquire {
			t.learn(&t.acquire)
		}
		if release {
			at := e.publishing(t)
			t.release.replace(&t.clock, at)
			t.fenced = true
		}
	case ops.AtomicRead:
		e.atomicLoad(t, ev, acquire)
	case ops.Compare:
		if ev.Result == 0 {
			// It failed: it is a load, and the event has the order for failure.
			e.atomicLoad(t, ev, acquire)
			return
		}
		fallthrough
	case ops.Exchange:
		e.atomicLoad(t, ev, acquire)
		e.atomics.join(ev)
		switch {
		case release:
			by := e.publishing(t)
			e.atomics.write(ev, func(at *released) { at.publish(&t.clock, by) })
		case t.fenced:
			e.atomics.write(ev, func(at *released) { at.publish(&t.release.clock, t.release.by) })
		}
	case ops.AtomicWrite:
		switch {
		case release:
			by := e.publishing(t)
			e.atomics.write(ev, func(at *released) { at.replace(&t.clock, by) })
		case t.fenced:
			e.atomics.write(ev, func(at *released) { at.replace(&t.release.clock, t.release.by) })
		default:
			e.atomics.write(ev, (*released).forget)
		}
	}
}

// volatileStore handles a volatile store that is a plain write: inline assembly that accesses the memory later acquires it.
func (e *Engine) volatileStore(t *thread, ev *trace.Event) {
	by := e.publishing(t)
	e.volatiles.write(ev, func(at *released) { at.replace(&t.clock, by) })
}

// goSync handles the events of Go's race detector.
func (e *Engine) goSync(t *thread, ev *trace.Event) {
	does := ops.Does(ev.Op)
	if does == ops.Observe || does == ops.Renew {
		e.atomics.read(ev, t.take)
	}
	switch does {
	case ops.Publish:
		by := e.publishing(t)
		e.atomics.write(ev, func(at *released) { at.replace(&t.clock, by) })
	case ops.Merge, ops.Renew:
		by := e.publishing(t)
		e.atomics.write(ev, func(at *released) { at.publish(&t.clock, by) })
	}
}

func (e *Engine) atomicLoad(t *thread, ev *trace.Event, acquire bool) {
	e.atomics.read(ev, func(at *released) {
		if acquire {
			t.take(at)
		} else {
			at.takenBy(&t.acquire)
		}
	})
}
