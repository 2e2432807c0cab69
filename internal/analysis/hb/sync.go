package hb

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// object is the state released at a synchronisation object.
type object struct {
	alone  released // by exclusive holders, by threads that raised its count, …
	shared released // by readers since
	phase  *phase   // of a barrier
}

// phase is a generation of a barrier that is collecting arrivals. It may outlive its place in
// object: its last threads may leave after the next generation has begun.
type phase struct{ arrived Clock }

func (e *Engine) object(o *ops.Object) *object {
	if int(o.Num) < len(e.objects) {
		if x := e.objects[o.Num]; x != nil {
			return x
		}
	}
	return e.newObject(o)
}

func (e *Engine) newObject(o *ops.Object) *object {
	for int(o.Num) >= len(e.objects) {
		e.objects = append(e.objects, nil)
	}
	e.objects[o.Num] = &object{}
	return e.objects[o.Num]
}

// wake gives thread id the clock of t, to acquire when it resumes.
func (e *Engine) wake(t *thread, id trace.ThreadID) {
	e.publishing(t)
	e.thread(id).woken.Join(&t.clock)
}

// mutex handles mutexes and spin locks. Only the owner releases them, so neither their clocks nor
// the state need record the owner.
func (e *Engine) mutex(t *thread, spec *ops.Spec, ev *trace.Event) {
	if !spec.Done(ev) {
		return
	}
	o := e.object(e.state.Object(ev.Object))
	switch spec.Does {
	case ops.Acquire:
		t.take(&o.alone)
	case ops.Release, ops.Abandon:
		// Inner unlocks of a recursive mutex release too early, but no thread can acquire
		// before the outer one, which releases at least as much.
		e.leave(t, &o.alone)
	case ops.Init, ops.Destroy:
		*o = object{}
	}
}

// synchronise handles reader-writer locks, once, conditions, futexes, semaphores and barriers.
func (e *Engine) synchronise(t *thread, ev *trace.Event) {
	changes := e.state.Apply(ev)
	for i := range changes {
		switch c := &changes[i]; c.Kind {
		case ops.Acquired:
			o := e.object(c.Object)
			t.take(&o.alone)
			t.take(&o.shared)
		case ops.AcquiredShared, ops.Passed, ops.Downed:
			t.take(&e.object(c.Object).alone)
		case ops.Released, ops.Upped:
			e.leave(t, &e.object(c.Object).alone)
			if ops.Of(ev.Op).Of == ops.Once { // compiled code checks a C++ guard with an acquire load
				by := e.publishing(t)
				e.atomics.write(ev, func(at *released) { at.publish(&t.clock, by) })
			}
		case ops.ReleasedShared:
			e.leave(t, &e.object(c.Object).shared)
		case ops.Waits:
			t.woken.forget()
		case ops.Woke, ops.MayWake:
			e.wake(t, c.Thread)
		case ops.Resumed:
			if c.N == 1 {
				t.learn(&t.woken)
			}
			t.woken.forget()
		case ops.Arrived:
			o := e.object(c.Object)
			if c.First || o.phase == nil { // a trace may lack the first arrival
				o.phase = &phase{}
			}
			e.publishing(t)
			o.phase.arrived.Join(&t.clock)
			t.phase = o.phase
		case ops.Departed:
			if t.phase != nil {
				t.learn(&t.phase.arrived)
				t.phase = nil
			}
		case ops.Forgotten:
			*e.object(c.Object) = object{}
		}
	}
}
