package hb

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// queue holds the threads that wait at a condition variable or futex.
type queue struct{ waiting []trace.ThreadID }

func (q *queue) enter(t trace.ThreadID) {
	if !slices.Contains(q.waiting, t) {
		q.waiting = append(q.waiting, t)
	}
}

func (q *queue) remove(t trace.ThreadID) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w trace.ThreadID) bool { return w == t })
}

// barrier is the phase that is gathering arrivals. A phase outlives its place here: its
// last threads may leave when the next one has begun.
type barrier struct{ phase *phase }

type phase struct {
	arrived Clock
	left    bool
}

func queueOf(m map[trace.Object]*queue, o trace.Object) *queue {
	q := m[o]
	if q == nil {
		q = &queue{}
		m[o] = q
	}
	return q
}

// wake gives thread id the clock of t, to be acquired by its wake event.
func (e *Engine) wake(t *thread, id trace.ThreadID) {
	e.publishing(t)
	e.thread(id).woken.Join(&t.clock)
}

// waitEvent handles condition variables, semaphores, barriers, futexes and descriptors. Operations that
// order nothing end here and do nothing.
func (e *Engine) waitEvent(t *thread, ev *trace.Event) {
	switch ev.Op {
	case trace.OpCondWait:
		if ev.Result == 0 {
			e.leave(t, &e.lock(trace.Object(ev.Aux)).wrote)
			queueOf(e.conds, ev.Object).enter(t.id)
			t.woken.forget()
		}
	case trace.OpCondWake:
		queueOf(e.conds, ev.Object).remove(t.id)
		if ev.Result != notRecoverable {
			t.take(&e.lock(trace.Object(ev.Aux)).wrote)
		}
		e.wokenUp(t, ev)
	case trace.OpCondTimeout:
		queueOf(e.conds, ev.Object).remove(t.id)
	case trace.OpSpuriousWake:
		// The wait may be on either; nobody woke it, so nothing is acquired.
		queueOf(e.conds, ev.Object).remove(t.id)
		queueOf(e.futexes, ev.Object).remove(t.id)
	case trace.OpCondSignal:
		if ev.Value > 0 {
			id := trace.ThreadID(ev.Value) - 1
			queueOf(e.conds, ev.Object).remove(id)
			e.wake(t, id)
		}
	case trace.OpCondBroadcast:
		q := queueOf(e.conds, ev.Object)
		for _, id := range q.waiting {
			e.wake(t, id)
		}
		q.waiting = q.waiting[:0]
	case trace.OpCondInit, trace.OpCondDestroy:
		if ev.Result == 0 {
			delete(e.conds, ev.Object)
		}

	case trace.OpFutexWait:
		if ev.Result == 0 {
			queueOf(e.futexes, ev.Object).enter(t.id)
			t.woken.forget()
		}
	case trace.OpFutexWakeup:
		queueOf(e.futexes, ev.Object).remove(t.id)
		e.wokenUp(t, ev)
	case trace.OpFutexWake:
		q := queueOf(e.futexes, ev.Object)
		if ev.Value == 0 {
			break
		}
		if first := trace.ThreadID(ev.Aux) - 1; ev.Value == 1 && first >= 0 {
			q.remove(first)
			e.wake(t, first)
			break
		}
		for _, id := range q.waiting {
			e.wake(t, id)
		}
		if ev.Value >= uint64(len(q.waiting)) {
			q.waiting = q.waiting[:0]
		}

	case trace.OpSemPost:
		if ev.Result == 0 {
			e.leave(t, releasedAt(e.sems, ev.Object))
		}
	case trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait:
		if ev.Result == 0 {
			t.take(releasedAt(e.sems, ev.Object))
		}
	case trace.OpSemInit, trace.OpSemDestroy:
		if ev.Result == 0 {
			delete(e.sems, ev.Object)
		}

	case trace.OpSignalSend:
		if ev.Result == 0 {
			e.leave(t, releasedAt(e.sems, allSignals))
		}
	case trace.OpSignalWait:
		if ev.Result == 0 {
			t.take(releasedAt(e.sems, allSignals))
		}
	case trace.OpSignalDeliver, trace.OpSignalInterrupt:
		// A fault (no choice) was sent by nobody.
		if ev.Value > 0 && ev.Flags&trace.FlagNoChoice == 0 {
			t.take(releasedAt(e.sems, allSignals))
		}
	case trace.OpTimerSet:
		// The timer's next expiry comes after this.
		if id := trace.ThreadID(ev.Aux) - 1; id >= 0 {
			e.tell(t, e.thread(id))
		}
	case trace.OpTimerExpire:
		e.leave(t, releasedAt(e.sems, allSignals))

	case trace.OpCancel:
		e.leave(t, releasedAt(e.sems, cancelOf(trace.ThreadID(ev.Value))))
	case trace.OpFdWrite, trace.OpFdClose, trace.OpFdShutdown, trace.OpFdListen, trace.OpFdConnect, trace.OpFdCtl:
		if ev.Result == 0 || ev.Result == inProgress {
			if channel(ev.Object) {
				e.leave(t, releasedAt(e.sems, ev.Object))
			}
			e.leave(t, releasedAt(e.sems, allChannels))
		}
	case trace.OpFdRead, trace.OpFdAccept:
		switch {
		case ev.Result != 0:
		case channel(ev.Object):
			t.take(releasedAt(e.sems, ev.Object))
		case outside(ev.Object):
			t.take(releasedAt(e.sems, allChannels))
		}
	case trace.OpFdPoll:
		if ev.Result == 0 && ev.Value > 0 {
			t.take(releasedAt(e.sems, allChannels))
		}

	case trace.OpBarrierWait:
		b := e.barriers[ev.Object]
		if b == nil {
			b = &barrier{}
			e.barriers[ev.Object] = b
		}
		// The count says where a phase begins. Traces from elsewhere may not have it;
		// there, once somebody has left, who arrives belongs to the next phase.
		if b.phase == nil || ev.Value == 1 || b.phase.left {
			b.phase = &phase{}
		}
		e.publishing(t)
		b.phase.arrived.Join(&t.clock)
		t.phase = b.phase
	case trace.OpBarrierLeave:
		if t.phase != nil {
			t.phase.left = true
			t.learn(&t.phase.arrived)
			t.phase = nil
		}
	case trace.OpBarrierInit, trace.OpBarrierDestroy:
		// Threads that have yet to leave keep their phase.
		if ev.Result == 0 {
			delete(e.barriers, ev.Object)
		}
	}
}

// wokenUp ends a wait: with what the waker left, unless nobody woke it.
func (e *Engine) wokenUp(t *thread, ev *trace.Event) {
	switch ev.Result {
	case 0:
		t.learn(&t.woken)
	case ownerDead, notRecoverable: // of the mutex; the wait may have been over either way
		if ev.Flags&trace.FlagTimeout == 0 {
			t.learn(&t.woken)
		}
	}
	t.woken.forget()
}

func releasedAt(m map[trace.Object]*released, o trace.Object) *released {
	r := m[o]
	if r == nil {
		r = &released{}
		m[o] = r
	}
	return r
}

// allChannels stands for everything that a descriptor leads to. What made a poll or a wait
// on an epoll set end is not recorded whole, so it comes after all that was done to any
// descriptor before it: this may hide a race and never invents one.
const allChannels = trace.Object(^uint64(1))

// inProgress is EINPROGRESS: a connection was begun and is not waited for.
const inProgress = 115

// channel reports whether what is read from an object was written to it. What a file holds
// may have been written by anybody.
func channel(o trace.Object) bool {
	kind, _, ok := o.Channel()
	return ok && kind != "file" && kind != "descriptor"
}

// outside reports whether an object is a descriptor of the kernel's: a pipe whose other end
// may be any descriptor of the process. A read comes after all that was written anywhere
// before: this may hide a race and never invents one.
func outside(o trace.Object) bool {
	kind, _, ok := o.Channel()
	return ok && kind == "descriptor"
}

// allSignals stands for every pending signal. Which of several pending ones a wait takes
// is the system's choice, so a wait comes after all that were sent before it: this may
// hide a race and never invents one.
const allSignals = trace.Object(^uint64(0))

// cancelOf stands for the cancellation that is asked of a thread.
func cancelOf(t trace.ThreadID) trace.Object { return allSignals - 1 - trace.Object(t) }
