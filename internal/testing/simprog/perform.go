package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Results of operations, as the C library numbers them.
const (
	ebusy     = 16
	etimedout = 110
)

// orderSeqCst is in the flags of every atomic.
const orderSeqCst = trace.FlagAtomic | 5<<4

// enabled reports whether a thread can do its next operation.
func (x *execution) enabled(t *Thread) bool {
	switch o := &t.next; o.op {
	case trace.OpMutexLock:
		return o.lock.holder == nil
	case trace.OpCondWake:
		return t.woken && o.lock.holder == nil
	case trace.OpSemWait:
		return o.sem.count > 0
	case trace.OpBarrierLeave:
		return t.woken
	case trace.OpThreadJoin:
		return o.other.ended
	}
	return true
}

// mayTimeOut reports whether a thread that is not enabled can go on because time passes.
func (x *execution) mayTimeOut(t *Thread) bool {
	return t.next.op == trace.OpCondWake && t.next.timed && !t.woken && t.next.lock.holder == nil
}

// perform does a thread's next operation and records it.
func (x *execution) perform(t *Thread, flags trace.Flags, enabled trace.ThreadSet) {
	o := &t.next
	e := trace.Event{Thread: t.id, Op: o.op, Site: o.site, Flags: flags, Enabled: enabled}
	t.result = 0
	t.steps++
	switch o.op {
	case trace.OpThreadStart:
		t.began = true
	case trace.OpThreadEnd:
		t.ended = true
	case trace.OpThreadCreate:
		t.child = x.newThread(t, o.body)
		e.Value = uint64(t.child.id)
	case trace.OpThreadJoin:
		e.Value = uint64(o.other.id)
		if o.other.joined {
			x.fail(t, trace.Misuse, o.site, "join of a thread that was joined before")
		}
		o.other.joined = true
	case trace.OpProcessExit:
		e.Value = uint64(o.value)
		x.over = true
		x.ending = trace.Ending{Kind: trace.Clean, Status: int32(o.value), Thread: t.id, Site: o.site, Waiters: x.waiters()}
	case trace.OpAbort:
		kind := trace.Assertion
		if o.thrown {
			kind = trace.Exception
		}
		x.fail(t, kind, o.site, o.text)
	case trace.OpSignal:
		e.Value = uint64(o.value)
		x.fail(t, trace.Signal, o.site, "")
		x.ending.Status = int32(o.value)

	case trace.OpRead, trace.OpWrite, trace.OpFree, trace.OpMalloc,
		trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpAtomicCas:
		x.performAccess(t, &e)

	case trace.OpMutexLock, trace.OpMutexTrylock:
		e.Object = o.lock.object
		if o.lock.holder == nil {
			o.lock.holder = t
		} else {
			t.result, e.Result = ebusy, ebusy
		}
		x.cover(t, &o.lock.cover, true)
	case trace.OpMutexUnlock:
		e.Object = o.lock.object
		if o.lock.holder != t {
			x.fail(t, trace.Misuse, o.site, "unlock of a lock not held")
			x.ending.Object = e.Object
		} else {
			o.lock.holder = nil
		}
		x.cover(t, &o.lock.cover, true)

	case trace.OpCondWait:
		e.Object, e.Aux = o.cond.object, uint64(o.lock.object)
		if o.lock.holder != t {
			x.fail(t, trace.Misuse, o.site, "condition wait without holding the lock")
			break
		}
		o.lock.holder = nil
		t.woken = false
		o.cond.waiting = append(o.cond.waiting, t)
		x.cover(t, &o.lock.cover, true)
		x.cover(t, &o.cond.cover, true)
	case trace.OpCondWake:
		e.Object, e.Aux = o.cond.object, uint64(o.lock.object)
		o.lock.holder = t
		if !t.woken {
			o.cond.waiting = slices.DeleteFunc(o.cond.waiting, func(w *Thread) bool { return w == t })
			t.result, e.Result = etimedout, etimedout
		}
		t.woken = false
		x.cover(t, &o.lock.cover, true)
		x.cover(t, &o.cond.cover, true)
	case trace.OpCondSignal:
		e.Object = o.cond.object
		if w := x.toWake(o.cond); w != nil {
			w.woken = true
			o.cond.waiting = slices.DeleteFunc(o.cond.waiting, func(v *Thread) bool { return v == w })
			e.Value = uint64(w.id) + 1
		}
		x.cover(t, &o.cond.cover, true)
	case trace.OpCondBroadcast:
		e.Object, e.Value = o.cond.object, uint64(len(o.cond.waiting))
		for _, w := range o.cond.waiting {
			w.woken = true
		}
		o.cond.waiting = nil
		x.cover(t, &o.cond.cover, true)

	case trace.OpSemWait:
		o.sem.count--
		e.Object, e.Value = o.sem.object, uint64(o.sem.count)
		x.cover(t, &o.sem.cover, true)
	case trace.OpSemPost:
		o.sem.count++
		e.Object, e.Value = o.sem.object, uint64(o.sem.count)
		x.cover(t, &o.sem.cover, true)

	case trace.OpBarrierWait:
		b := o.bar
		b.arrived = append(b.arrived, t)
		t.woken = false
		e.Object, e.Value = b.object, uint64(len(b.arrived))
		if len(b.arrived) == b.size {
			for _, w := range b.arrived {
				w.woken = true
			}
			b.arrived = nil
		}
		x.cover(t, &b.cover, true)
	case trace.OpBarrierLeave:
		e.Object = o.bar.object
		t.woken = false
		x.cover(t, &o.bar.cover, false)
	}
	if x.record && (x.accesses || flags&trace.FlagNoChoice == 0 || o.op == trace.OpSignal) {
		if o.op == trace.OpFree && !x.over {
			x.allocs[o.word.alloc].Freed = len(x.events)
		}
		x.events = append(x.events, e)
	}
}

// performAccess does an operation on a variable.
func (x *execution) performAccess(t *Thread, e *trace.Event) {
	o, w := &t.next, t.next.word
	e.Object, e.Size = w.object, 8
	if w.freed {
		what := "use of freed memory"
		if o.op == trace.OpFree {
			what = "free of freed memory"
		}
		x.fail(t, trace.Misuse, o.site, what)
		x.ending.Object = w.object
	}
	writes := true
	switch o.op {
	case trace.OpMalloc:
		w.alloc = len(x.allocs)
		x.allocs = append(x.allocs, trace.Alloc{Object: w.object, Size: 8, Thread: t.id, Site: o.site, Event: len(x.events), Freed: -1})
	case trace.OpFree:
		w.freed = true
	case trace.OpRead, trace.OpAtomicLoad:
		writes = false
		t.result = w.value
		e.Value = uint64(w.value)
	case trace.OpWrite, trace.OpAtomicStore:
		w.value = o.value
		e.Value = uint64(w.value)
	case trace.OpAtomicRmw:
		e.Aux = uint64(w.value)
		w.value += o.value
		t.result = w.value
		e.Value = uint64(w.value)
	case trace.OpAtomicCas:
		e.Value = uint64(w.value)
		if writes = w.value == o.old; writes {
			w.value = o.value
			t.result, e.Result = 1, 1
		}
	}
	switch o.op {
	case trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpAtomicCas:
		e.Flags |= orderSeqCst
	}
	x.cover(t, &w.cover, writes)
}

// toWake chooses who hears a signal: whom the script says, or any that waits.
func (x *execution) toWake(c *Cond) *Thread {
	if len(c.waiting) == 0 {
		return nil
	}
	if w := x.script.wake(x); w != nil && slices.Contains(c.waiting, w) {
		return w
	}
	return c.waiting[x.rand.IntN(len(c.waiting))]
}
