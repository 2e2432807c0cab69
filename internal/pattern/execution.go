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
	Order   *Order       // on which the failure depends; nil if none is known

	triple *[]int // what interleaving returns, once it is known
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

// waiter returns what a thread waited for when the execution ended, nil if it had ended.
func (x *Execution) waiter(th trace.ThreadID) *trace.Waiter {
	for i := range x.Trace.Ending.Waiters {
		if w := &x.Trace.Ending.Waiters[i]; w.Thread == th {
			return w
		}
	}
	return nil
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
