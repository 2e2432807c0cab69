package hb

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// object is what was released at a synchronisation object.
type object struct {
	alone  released // by those that held it alone, raised its count, …
	shared released // by readers since
	phase  *phase   // of a barrier
}

// phase is a generation of a barrier that is gathering arrivals. It outlives its place in
// object: its last threads may leave when the next one has begun.
type phase struct{ arrived Clock }

func (e *Engine) object(o *ops.Object) *object {
	for int(o.Num) >= len(e.objects) {
		e.objects = append(e.objects, nil)
	}
	x := e.objects[o.Num]
	if x == nil {
		x = &object{}
		e.objects[o.Num] = x
	}
	return x
}

// wake gives thread id the clock of t, to be acquired when it resumes.
func (e *Engine) wake(t *thread, id trace.ThreadID) {
	e.publishing(t)
	e.thread(id).woken.Join(&t.clock)
}

// synchronise handles locks, once, conditions, futexes, semaphores and barriers.
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
			// Inner unlocks of a recursive mutex release too early, but nobody can acquire
			// before the outer one, which releases at least as much.
			e.leave(t, &e.object(c.Object).alone)
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
			if c.First {
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
			if int(c.Object.Num) < len(e.objects) {
				e.objects[c.Object.Num] = nil
			}
		}
	}
}
