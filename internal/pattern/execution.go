package pattern

import (
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Execution is what the rules look at: an execution that fails, one that does not, and how they differ.
type Execution struct {
	Trace   *trace.Trace
	Passing *trace.Trace // nil for none
	// Others are more executions that do not fail: other orderings of the failing one are the other way round in them.
	Others []*trace.Trace
	Order  *Order // on which the failure depends; nil if none is known
	// Rest is an ordering on which the failure depends, too, and which with Order has an operation of one thread come between two of
	// another; nil if none is known.
	Rest *Order
	// Functions are the names of the functions in which an event of an execution happened, as the linker knows them, innermost first; nil
	// if they are not known.
	Functions func(t *trace.Trace, event int) []string

	// Calls are the places of an event and of the calls in which it happened, each with its function, innermost first; nil if they are not known.
	Calls func(t *trace.Trace, event int) []string

	// Own reports whether a place is in the program's own code; nil if that is not known.
	Own func(t *trace.Trace, at trace.Site) bool
	// Interrupted is what a handler does to its thread if executions showed that the failure depends on it; nil otherwise.
	Interrupted *Interruption

	lasts  map[trace.ThreadID]int // what last returns, once it is known
	triple *[]int                 // what interleaving returns, once it is known
	places map[[2]place]bool      // what together returns, as far as it is known
}

// reused reports whether a place in a thread's stack belongs to another function's frame at one event of the thread than at another: it
// then holds other variables.
func (x *Execution) reused(i, j int) bool {
	object := x.event(i).Object
	if object.Region() != trace.RegionStack || x.event(i).Thread != x.event(j).Thread {
		return false
	}
	calls := func(at int) []trace.Site {
		ev := x.event(at)
		if int(ev.Stack) >= len(x.Trace.Stacks) {
			return []trace.Site{ev.Site}
		}
		return append([]trace.Site{ev.Site}, x.Trace.Stacks[ev.Stack]...)
	}
	// The frame was told at another event of the thread, in which the function had the same callers.
	frame := func(at int) (found *trace.Local) {
		now := calls(at)
		for k := range x.Trace.Locals {
			l := &x.Trace.Locals[k]
			if l.Object != object || l.Event > at || x.event(l.Event).Thread != x.event(at).Thread {
				continue
			}
			then := calls(l.Event)
			n := slices.IndexFunc(then, func(s trace.Site) bool { return s == l.Site || s == l.Below })
			if callers := then[n+1:]; n >= 0 && len(now) > len(callers) && slices.Equal(now[len(now)-len(callers):], callers) {
				found = l
			}
		}
		return found
	}
	a, b := frame(i), frame(j)
	return a != nil && b != nil && (a.Function != b.Function || a.CFA != b.CFA || a.SP != b.SP)
}

// Order is an ordering of two events of different threads.
type Order struct {
	First  int
	Second int // -1 if it has not happened when the execution ends
	// Waiting: the second is not an event, but what the thread waits for after event Second when the execution ends.
	Waiting bool
	// InPassing is the number in Execution.Passing of the second event if Second is -1.
	InPassing int
}

func (x *Execution) event(i int) *trace.Event { return &x.Trace.Events[i] }

// pair returns the two events of the ordering; ok is false if the second has not happened.
func (x *Execution) pair() (first, second *trace.Event, ok bool) {
	o := x.Order
	if o == nil || o.Second < 0 || o.Waiting {
		return nil, nil, false
	}
	return x.event(o.First), x.event(o.Second), true
}

// later returns the first event of the ordering, and the second one, of whichever execution; ok is false if a thread waits for it.
func (x *Execution) later() (first, second *trace.Event, ok bool) {
	o := x.Order
	switch {
	case o == nil || o.Waiting:
		return nil, nil, false
	case o.Second < 0:
		return x.event(o.First), &x.Passing.Events[o.InPassing], true
	}
	return x.event(o.First), x.event(o.Second), true
}

// Waiter returns what a thread waited for when the execution ended, nil if that is not known or it had ended.
func (x *Execution) Waiter(th trace.ThreadID) *trace.Waiter {
	for i := range x.Trace.Ending.Waiters {
		if w := &x.Trace.Ending.Waiters[i]; w.Thread == th {
			return w
		}
	}
	return x.behindLock(th)
}

// listsWaiters reports whether the ending of an execution has what threads waited for.
func (x *Execution) listsWaiters() bool {
	switch x.Trace.Ending.Kind {
	case trace.Deadlock, trace.Hang, trace.Livelock, trace.Leak:
		return true
	}
	return x.Trace.Header.Target != "go"
}

// behindLock returns the lock for which a goroutine waited when another one failed, nil for none. The ending does not have it, but it is an event
// before the goroutine has the lock.
func (x *Execution) behindLock(th trace.ThreadID) *trace.Waiter {
	at := x.last(th)
	if x.listsWaiters() || at < 0 || ops.ObtainedAt(x.Trace, at) >= 0 {
		return nil
	}
	ev := x.event(at)
	does := ops.Does(ev.Op)
	holder := x.holder(ev.Object)
	if does != ops.Acquire && does != ops.AcquireShared || holder < 0 || holder == th {
		return nil
	}
	return &trace.Waiter{Thread: th, Op: ev.Op, Site: ev.Site, Object: ev.Object, Holder: holder, Stack: ev.Stack}
}

// holder returns the last thread that had a lock when the execution ended, -1 for none.
func (x *Execution) holder(lock trace.Object) trace.ThreadID {
	for i := len(x.Trace.Events) - 1; i >= 0; i-- {
		switch {
		case ops.ReleasesAt(x.Trace, i) == lock:
			return -1
		case ops.AcquiresAt(x.Trace, i) == lock && ops.Of(x.event(i).Op).Done(x.event(i)) && ops.ObtainedAt(x.Trace, i) >= 0:
			return x.event(i).Thread
		}
	}
	return -1
}

// begins returns the event by which a thread was created, -1 for none.
func (x *Execution) begins(th trace.ThreadID) int {
	return slices.IndexFunc(x.Trace.Events, func(ev trace.Event) bool {
		s := ops.Of(ev.Op)
		return s.Does == ops.Create && s.Value == ops.ThreadNumber && trace.ThreadID(ev.Value) == th
	})
}

// written reports whether an access before an event wrote some of what another accesses.
func (x *Execution) written(to *trace.Event, before int) bool {
	return slices.ContainsFunc(x.Trace.Events[:before], func(ev trace.Event) bool {
		return isAccess(&ev) && ops.Changes(&ev) && Overlaps(&ev, to)
	})
}

// isAccess reports whether an event accesses memory.
func isAccess(ev *trace.Event) bool { return ops.Of(ev.Op).Of == ops.Memory }

// isWake reports whether an event wakes threads that wait for a condition.
func isWake(ev *trace.Event) bool {
	does := ops.Does(ev.Op)
	return does == ops.WakeOne || does == ops.WakeAll
}

// woken returns the thread that a signal of a condition has woken; ok is false if none is known.
func (x *Execution) woken(signal int) (th trace.ThreadID, ok bool) { return woken(x.Trace, signal) }

func woken(t *trace.Trace, signal int) (th trace.ThreadID, ok bool) {
	ev := &t.Events[signal]
	switch spec := ops.Of(ev.Op); {
	case spec.Does != ops.WakeOne || spec.Of != ops.Condition:
		return 0, false
	case spec.Value == ops.ThreadPlusOne:
		return trace.ThreadID(ev.Value) - 1, ev.Value != 0
	case ev.Op != trace.OpGcondSignal:
		return 0, false
	}
	var waiting []trace.ThreadID // package sync wakes those first that came first
	for i := range t.Events[:signal] {
		e := &t.Events[i]
		if e.Object != ev.Object {
			continue
		}
		switch e.Op {
		case trace.OpGcondWait:
			waiting = append(waiting, e.Thread)
		case trace.OpGcondSignal:
			waiting = waiting[min(1, len(waiting)):]
		case trace.OpGcondBroadcast:
			waiting = nil
		}
	}
	if len(waiting) == 0 {
		return 0, false
	}
	return waiting[0], true
}

// isStep reports whether an event is a step in what its thread does for itself: it accesses or allocates memory, acquires or releases a
// lock, or calls a function.
func isStep(ev *trace.Event) bool {
	switch s := ops.Of(ev.Op); {
	case s.Of == ops.Memory, s.Of == ops.Block:
		return true
	case s.Does == ops.Acquire, s.Does == ops.AcquireShared, s.Does == ops.Release, s.Does == ops.ReleaseShared:
		return true
	}
	return ev.Op.IsCall()
}

// Overlaps reports whether two accesses have a byte in common.
func Overlaps(a, b *trace.Event) bool {
	return a.Object < b.Object+trace.Object(max(b.Size, 1)) && b.Object < a.Object+trace.Object(max(a.Size, 1))
}

// dies reports whether a Go program ends with one of the runtime's messages.
func (x *Execution) dies(messages ...string) bool {
	end := &x.Trace.Ending
	return x.Order != nil && x.Trace.Header.Target == "go" && (end.Kind == trace.Panic || end.Kind == trace.Fatal) &&
		slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(end.Message, m) })
}

// value returns what an access read or wrote; ok is false if that was not recorded.
func (x *Execution) value(i int) (v uint64, ok bool) {
	ev := x.event(i)
	c := x.Trace.Header.Target != "go" && ev.Size >= 1 && ev.Size <= 8 && ev.Flags&trace.FlagNoDecision == 0
	return ev.Value, c || ev.Value != 0 || ev.Flags&trace.FlagValue != 0
}

// holds returns the event by which a thread acquired a lock that it holds at event e, and whether it shares it; -1 if it does not
// hold it.
func (x *Execution) holds(th trace.ThreadID, lock trace.Object, e int) (since int, shared bool) {
	since = -1
	for i := range x.Trace.Events[:e] {
		ev := x.event(i)
		switch {
		case ops.AcquiresAt(x.Trace, i) != lock && ops.ReleasesAt(x.Trace, i) != lock:
		case ops.ReleasesAt(x.Trace, i) == lock && (ev.Thread == th || x.Trace.Header.Target == "go"): // Go's locks have no owner
			since = -1
		case ev.Thread == th && ops.AcquiresAt(x.Trace, i) == lock && ops.Of(ev.Op).Done(ev) && since < 0:
			since, shared = i, ops.Does(ev.Op) == ops.AcquireShared
		}
	}
	return since, shared
}

// locks returns the locks that a thread holds at event e.
func (x *Execution) locks(th trace.ThreadID, e int) (out []trace.Object) {
	tried := map[trace.Object]bool{}
	for i := range x.Trace.Events[:e] {
		if ev := x.event(i); ev.Thread == th {
			if lock := ops.Acquires(ev); lock != 0 && !tried[lock] {
				tried[lock] = true
				if since, _ := x.holds(th, lock, e); since >= 0 {
					out = append(out, lock)
				}
			}
		}
	}
	return out
}

// at says where an event happened: ` at main x.c:3`; empty if unknown.
func at(w Words, i int) string {
	if p := w.Place(i); p != "" {
		return " at " + p
	}
	return ""
}

// valued says what an event read or wrote: ` 0`, empty if unknown.
func valued(w Words, i int) string {
	if v := w.Value(i); v != "" {
		return " " + v
	}
	return ""
}
