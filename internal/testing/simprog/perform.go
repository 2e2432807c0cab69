package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Results of operations, as the C library numbers them.
const (
	eagain    = 11
	ebusy     = 16
	etimedout = 110
)

// orderSeqCst is in the flags of every atomic.
const orderSeqCst = trace.FlagAtomic | 5<<4

// enabled reports whether a thread can do its next operation, or something before that.
func (x *execution) enabled(t *Thread) bool { return x.possible(t) || t.due }

// possible reports whether a thread can do its next operation.
func (x *execution) possible(t *Thread) bool {
	switch o := &t.next; o.op {
	case trace.OpMutexLock:
		return o.lock.holder == nil
	case trace.OpCondWake:
		return (t.granted || t.timedOut) && o.lock.holder == nil
	case trace.OpSemWait:
		return o.sem.count > 0
	case trace.OpRwlockRdlock:
		return o.rw.writer == nil
	case trace.OpRwlockWrlock:
		return o.rw.free()
	case trace.OpOnceBegin:
		return o.once.runs == nil
	case trace.OpBarrierLeave:
		return t.granted
	case trace.OpThreadJoin:
		return o.try || o.other.ended
	case trace.OpSleep:
		return t.timedOut && !x.timerBefore(t.deadline)
	case trace.OpTimerExpire:
		return t.timedOut
	}
	return true
}

// detourPossible reports whether t can do op before its pending operation, now or early.
func (x *execution) detourPossible(t *Thread, op trace.Op) bool {
	waits := t.next.op == trace.OpCondWake && !t.granted && !t.timedOut
	switch op {
	case trace.OpCondTimeout:
		return waits && (t.timed || t.due)
	case trace.OpSpuriousWake:
		return waits
	}
	return false
}

// detourNeeded is what t, which is enabled, has to do before its pending operation.
func (x *execution) detourNeeded(t *Thread) trace.Op {
	if !x.possible(t) && t.due {
		return trace.OpCondTimeout
	}
	return trace.OpNone
}

// doDetour lets t do what comes before its pending operation, which stays pending.
func (x *execution) doDetour(t *Thread) {
	o := operation{op: t.detour, site: t.next.site, cond: t.next.cond}
	e := trace.Event{Thread: t.id, Op: o.op, Site: o.site, Object: o.cond.object}
	t.detour = trace.OpNone
	t.steps++
	if o.op == trace.OpCondTimeout {
		t.timed, t.due, t.timedOut = false, false, true
		x.time = max(x.time, t.deadline)
		e.Aux, e.Flags = uint64(t.next.lock.object), trace.FlagTimeout
	} else {
		t.granted, t.due, t.timed = true, false, false
	}
	x.progress(t)
	x.commit(t, &o, &e)
	x.canRun()
}

// expire lets a timer expire.
func (x *execution) expire(t *Thread) {
	o := t.next
	e := trace.Event{Thread: t.id, Op: o.op, Flags: x.flags(t)}
	t.timedOut = false
	x.progress(t)
	x.commit(t, &o, &e)
	x.policy.arrive(t)
	x.canRun()
	x.count(t)
}

// perform does a thread's next operation and records it.
func (x *execution) perform(t *Thread, flags trace.Flags) {
	o := &t.next
	e := trace.Event{Thread: t.id, Op: o.op, Site: o.site, Flags: flags}
	var created *Thread
	told, observes := int64(0), false // by what the thread learns
	t.result = 0
	t.steps++
	switch o.op {
	case trace.OpThreadStart:
		t.began = true
	case trace.OpThreadEnd:
		t.ended = true
		x.progress(t)
	case trace.OpThreadCreate:
		t.child = x.newThread(t, o.body)
		e.Value = uint64(t.child.id)
		if o.body == nil {
			t.child.timer = true
			t.child.next = operation{op: trace.OpTimerExpire}
			x.timers++
			break
		}
		created = t.child
		x.progress(t)
	case trace.OpThreadJoin:
		e.Value = uint64(o.other.id)
		if o.other.joined {
			x.fail(t, trace.Misuse, o.site, "join of a thread that was joined before")
		}
		if o.try {
			e.Size = 1
			busy := history{}
			if !o.other.ended {
				t.result, e.Result, busy.changed = ebusy, ebusy, 1
			}
			x.cover(t, &busy, false)
		}
		if t.result != 0 {
			observes = true
			break
		}
		o.other.joined = true
		x.progress(t)
	case trace.OpSleep:
		e.Value = uint64(o.value)
	case trace.OpTimerSet:
		e.Value, e.Aux = uint64(o.value), uint64(o.other.id)+1
		o.other.timeOut(x.time + o.value)
		x.progress(t)
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
		told, observes = x.performAccess(t, &e)

	case trace.OpMutexLock, trace.OpMutexTrylock:
		e.Object = o.lock.object
		if o.lock.holder == nil {
			o.lock.holder = t
		} else {
			t.result, e.Result = ebusy, ebusy
			told = int64(o.lock.holder.id)
			observes = true
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
		x.cover(t, &o.lock.cover, true)
		x.cover(t, &o.cond.cover, true)
	case trace.OpCondWake:
		e.Object, e.Aux = o.cond.object, uint64(o.lock.object)
		o.lock.holder = t
		if !t.granted {
			t.result, e.Result = etimedout, etimedout
		}
		x.cover(t, &o.lock.cover, true)
		x.cover(t, &o.cond.cover, true)
	case trace.OpCondSignal:
		e.Object = o.cond.object
		if w := x.policy.toWake(o.cond); w != nil {
			x.grant(w)
			x.progress(t)
			e.Value = uint64(w.id) + 1
		}
		x.cover(t, &o.cond.cover, true)
	case trace.OpCondBroadcast:
		e.Object = o.cond.object
		for _, w := range x.threads {
			if !w.ended && w.next.op == trace.OpCondWake && w.next.cond == o.cond && !w.granted && !w.timedOut {
				x.grant(w)
				e.Value++
			}
		}
		if e.Value > 0 {
			x.progress(t)
		}
		x.cover(t, &o.cond.cover, true)

	case trace.OpSemWait:
		o.sem.count--
		x.progress(t)
		e.Object, e.Value = o.sem.object, uint64(o.sem.count)
		x.cover(t, &o.sem.cover, true)
	case trace.OpSemTrywait:
		e.Object, observes = o.sem.object, o.sem.count == 0
		if observes {
			t.result, e.Result = eagain, eagain
		} else {
			o.sem.count--
			x.progress(t)
		}
		e.Value = uint64(o.sem.count)
		x.cover(t, &o.sem.cover, true)
	case trace.OpSemGetvalue:
		t.result, told, observes = o.sem.count, o.sem.count, true
		e.Object, e.Value = o.sem.object, uint64(o.sem.count)
		x.cover(t, &o.sem.cover, true)
	case trace.OpSemPost:
		o.sem.count++
		x.progress(t)
		e.Object, e.Value = o.sem.object, uint64(o.sem.count)
		x.cover(t, &o.sem.cover, true)

	case trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockUnlock:
		observes = !x.performRWLock(t, &e)

	case trace.OpOnceBegin:
		e.Object = o.once.object
		if !o.once.done {
			o.once.runs = t
			t.result, e.Value = 1, 1
			x.progress(t)
		}
		x.cover(t, &o.once.cover, true)
	case trace.OpOnceEnd:
		e.Object = o.once.object
		o.once.runs, o.once.done = nil, true
		x.progress(t)
		x.cover(t, &o.once.cover, true)

	case trace.OpBarrierWait:
		b := o.bar
		b.arrived++
		t.round = b.round
		e.Object, e.Value = b.object, uint64(b.arrived)
		if b.arrived == b.size {
			t.result = 1
			for _, w := range x.threads {
				if !w.ended && w.next.op == trace.OpBarrierLeave && w.next.bar == b {
					w.granted = true
				}
			}
			b.arrived = 0
			b.round++
		}
		x.progress(t)
		x.cover(t, &b.cover, true)
	case trace.OpBarrierLeave:
		e.Object = o.bar.object
		x.cover(t, &o.bar.cover, false)
	}
	if o.op == trace.OpFree && x.record && !x.over && (x.accesses || flags&trace.FlagNoDecision == 0) {
		x.allocs[o.word.alloc].Freed = len(x.events)
	}
	done := *o
	x.commit(t, &done, &e)
	if flags&trace.FlagNoDecision == 0 {
		x.holds.done(t, &e)
	}
	if created != nil {
		x.policy.arrive(created)
	}
	if x.over {
		return
	}
	switch {
	case observes:
		x.observe(t, told)
	case o.op == trace.OpYield && !o.forced:
		if !t.tellsNothing(nil, 0) {
			x.progress(t)
		} else {
			x.waste(t, 1, t.looked || t.before != o.op || t.beforeAt != o.site)
		}
	}
	t.before, t.beforeAt = o.op, o.site
}

// performRWLock does an operation on a reader-writer lock, and reports whether it changed the lock.
func (x *execution) performRWLock(t *Thread, e *trace.Event) bool {
	op, l := t.next.op, t.next.rw
	e.Object = l.object
	shared := op == trace.OpRwlockRdlock || op == trace.OpRwlockTryrdlock
	switch {
	case op == trace.OpRwlockUnlock && l.writer == t:
		l.writer = nil
	case op == trace.OpRwlockUnlock:
		if i := slices.Index(l.readers, t); i >= 0 {
			l.readers = slices.Delete(l.readers, i, i+1)
		} else {
			x.fail(t, trace.Misuse, t.next.site, "unlock of a lock not held")
			x.ending.Object = e.Object
		}
	case shared && l.writer == nil:
		l.readers = append(l.readers, t)
	case !shared && l.free():
		l.writer = t
	default:
		t.result, e.Result = ebusy, ebusy
	}
	x.cover(t, &l.cover, !shared)
	if t.result == 0 {
		x.progress(t)
	}
	return t.result == 0
}

// grant lets a condition wait end.
func (x *execution) grant(w *Thread) { w.granted, w.due, w.timed = true, false, false }

// performAccess does an operation on a variable. It returns what a scheduling point of the
// thread has observed, if that changed nothing.
func (x *execution) performAccess(t *Thread, e *trace.Event) (told int64, observes bool) {
	choice := e.Flags&trace.FlagNoDecision == 0
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
		if t.result = w.value; o.exchange {
			w.value = o.value
		} else {
			w.value += o.value
			t.result = w.value
		}
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
	switch {
	case !choice:
		return 0, false
	case o.op == trace.OpAtomicRmw && e.Aux == e.Value:
		return int64(e.Aux), true
	case writes:
		x.progress(t)
		return 0, false
	}
	return int64(e.Value), true
}
