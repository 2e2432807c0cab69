package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// InterruptedByHandler is a signal handler that gets in the way of the thread which it interrupts.
const InterruptedByHandler = "interruption by a signal handler"

var interruptedByHandler = &Pattern{
	Name: InterruptedByHandler,
	Shows: "a handler writes between its thread's read and write of the same memory, or what its thread has read before and never reads again, " +
		"or it waits for what its thread has changed; executions without that do not fail",
	find: func(x *Execution) *Match {
		i := x.Interrupted
		if i == nil || x.Order != nil && ops.Of(x.event(x.Order.First).Op).Of != ops.Signal {
			return nil
		}
		th := x.event(i.Before).Thread
		line := func(w Words) string {
			switch {
			case i.After > 0:
				return fmt.Sprintf("%s, in a handler, comes between T%d's read%s and its write%s", w.Event(i.Inside), th, at(w, i.Before), at(w, i.After))
			case ops.Changes(x.event(i.Before)):
				return fmt.Sprintf("T%d waits in a handler for %s%s, and has changed it itself%s", th, w.Object(i.Inside), at(w, i.Inside), at(w, i.Before))
			}
			return fmt.Sprintf("%s, in a handler, comes after T%d's last read%s", w.Event(i.Inside), th, at(w, i.Before))
		}
		more := []int{i.Before, i.Inside}
		if i.After > 0 {
			more = append(more, i.After)
		}
		return alone(line, more...)
	},
}

// Interruption is what a signal handler does to the thread that it interrupts: accesses of that thread to one object, before the handler, in it and
// after it. After is 0 if the thread does not access the object again.
type Interruption struct {
	Before, Inside, After int

	next operation // what the thread does once the handler has ended
}

// operation is what a thread does at an instruction; the zero value for nothing.
type operation struct {
	site trace.Site
	op   trace.Op
}

// Interruptions returns those of the threads that an execution ends with, the nearest to the end first: updates that a handler makes be lost, checks whose
// result it changes too late, and waits of a handler for its own thread.
func Interruptions(t *trace.Trace) (out []Interruption) {
	for from := range slices.Backward(t.Events) {
		ev := &t.Events[from]
		if ev.Op != trace.OpSignalDeliver || ev.Thread != t.Ending.Thread && !slices.ContainsFunc(t.Ending.Waiters, func(w trace.Waiter) bool { return w.Thread == ev.Thread }) {
			continue
		}
		inside, end := handler(t, from)
		next := operation{}
		for e := end + 1; e < len(t.Events) && next.op == 0; e++ {
			if t.Events[e].Thread == ev.Thread {
				next = operation{t.Events[e].Site, t.Events[e].Op}
			}
		}
		seen := map[trace.Object]bool{}
		for _, e := range inside {
			object := t.Events[e].Object
			if seen[object] {
				continue
			}
			seen[object] = true
			i := Interruption{Before: access(t, from-1, -1, -1, ev.Thread, object), Inside: e, After: access(t, end, len(t.Events), 1, ev.Thread, object), next: next}
			if i.Before < 0 {
				continue
			}
			before := &t.Events[i.Before]
			switch {
			case end == len(t.Events):
				if i.After = 0; ops.Changes(before) && t.Ending.Kind.Endless() && t.Events[inside[len(inside)-1]].Object == object {
					out = append(out, i)
				}
			case ops.Changes(before):
			case i.After < 0:
				if i.After = 0; i.writes(t, inside) {
					out = append(out, i)
				}
			case ops.Changes(&t.Events[i.After]) && !reads(&t.Events[i.After]):
				if i.writes(t, inside) {
					out = append(out, i)
				}
			}
		}
	}
	return out
}

// handler returns the accesses to shared memory of the handler of the signal that event from delivers, and where it ends: the number of events if
// it has not.
func handler(t *trace.Trace, from int) (inside []int, end int) {
	th, depth := t.Events[from].Thread, 1
	for e := from + 1; e < len(t.Events); e++ {
		ev := &t.Events[e]
		switch {
		case ev.Thread != th:
		case ev.Op == trace.OpSignalDeliver:
			depth++
		case ev.Op == trace.OpSignalReturn:
			if depth--; depth == 0 {
				return inside, e
			}
		case isAccess(ev) && ev.Object != 0 && ev.Object.Region() != trace.RegionStack:
			inside = append(inside, e)
		}
	}
	return inside, len(t.Events)
}

// access returns the first access of a thread to an object from event from to event to, in steps; -1 for none.
func access(t *trace.Trace, from, to, step int, th trace.ThreadID, object trace.Object) int {
	for e := from; e != to; e += step {
		if ev := &t.Events[e]; ev.Thread == th && ev.Object == object && isAccess(ev) {
			return e
		}
	}
	return -1
}

// writes sets Inside to the handler's first write of the object; false if it only reads it.
func (i *Interruption) writes(t *trace.Trace, inside []int) bool {
	for _, e := range inside {
		if ev := &t.Events[e]; ev.Object == t.Events[i.Inside].Object && ops.Changes(ev) {
			i.Inside = e
			return true
		}
	}
	return false
}

// reads reports whether an access also reads what it writes.
func reads(ev *trace.Event) bool {
	does := ops.Does(ev.Op)
	return does != ops.Write && does != ops.AtomicWrite
}

// Same reports whether two interruptions are by the same instructions.
func (i *Interruption) Same(t *trace.Trace, o *Interruption, in *trace.Trace) bool {
	same := func(a, b int) bool { return t.Events[a].Site == in.Events[b].Site }
	if i.After == 0 || o.After == 0 {
		return i.After == o.After && i.next == o.next && same(i.Before, o.Before) && same(i.Inside, o.Inside)
	}
	return same(i.Before, o.Before) && same(i.Inside, o.Inside) && same(i.After, o.After)
}
