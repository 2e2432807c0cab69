package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// waiters returns the threads that have not ended.
func (x *execution) waiters() []trace.Waiter {
	var out []trace.Waiter
	for _, t := range x.threads {
		if t.ended || t.timer || t.next.op == trace.OpNone {
			continue
		}
		w := trace.Waiter{Thread: t.id, Op: t.next.op, Site: t.next.site, Holder: -1, Ready: x.enabled(t)}
		switch o := &t.next; {
		case o.lock != nil && o.op != trace.OpCondWake:
			w.Object = o.lock.object
		case o.cond != nil:
			w.Object = o.cond.object
		case o.sem != nil:
			w.Object = o.sem.object
		case o.bar != nil:
			w.Object = o.bar.object
		case o.word != nil:
			w.Object = o.word.object
		case o.rw != nil:
			w.Object = o.rw.object
		case o.once != nil:
			w.Object = o.once.object
		}
		if h := waitsFor(t); h != nil {
			w.Holder = h.id
		}
		out = append(out, w)
	}
	return out
}

// waitsFor returns the thread that another one waits for, or nil if it could be any.
func waitsFor(t *Thread) *Thread {
	o := &t.next
	if o.rw != nil {
		return o.rw.writer
	}
	if o.once != nil {
		return o.once.runs
	}
	switch o.op {
	case trace.OpMutexLock:
		return o.lock.holder
	case trace.OpCondWake:
		if t.granted {
			return o.lock.holder
		}
	case trace.OpThreadJoin:
		if !o.try && !o.other.ended {
			return o.other
		}
	}
	return nil
}

// deadlock ends the execution because no thread is enabled.
func (x *execution) deadlock() {
	x.over = true
	x.ending = trace.Ending{Kind: trace.Deadlock, Waiters: x.waiters()}
	for _, t := range x.threads {
		if t.ended {
			continue
		}
		var path []trace.ThreadID
		for u := t; u != nil; u = waitsFor(u) {
			if i := slices.Index(path, u.id); i >= 0 {
				x.ending.Cycle = path[i:]
				x.ending.Thread = path[i]
				return
			}
			path = append(path, u.id)
		}
	}
}

// hang ends an execution that makes no progress.
func (x *execution) hang(t *Thread, why string) { x.cut(t, trace.Hang, why) }

// unfinished ends an execution that has used up its budget.
func (x *execution) unfinished(t *Thread, why string) {
	if x.cut(t, trace.Unfinished, why); x.plan.Cut {
		x.outcome.Cut = true
		x.ending.Kind, x.ending.Message, x.ending.Status = trace.Clean, "", x.plan.ExpectStatus
	}
}

func (x *execution) cut(t *Thread, kind trace.Kind, why string) {
	x.over = true
	x.ending = trace.Ending{Kind: kind, Message: why, Thread: t.id, Site: t.next.site, Waiters: x.waiters()}
}
