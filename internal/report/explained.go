package report

import (
	"math"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// steps lists events of an execution in their order.
func (x *explaining) steps(t *trace.Trace, events []int) []Step {
	slices.Sort(events)
	v := x.table(t)
	out := []Step{}
	for _, i := range slices.Compact(events) {
		ev := &t.Events[i]
		s := Step{Event: i, Thread: ThreadText(ev.Thread), Text: ev.Op.String(), Where: x.names.Place(ev.Site)}
		if c := v.cells[i]; c != nil {
			s.Text, s.Where = c.Text, v.Places[c.Place].Label
		}
		if start, ok := x.timers(t)[i]; ok { // it has no place of its own
			if c := v.cells[start]; c != nil {
				s.Where = v.Places[c.Place].Label
			}
		}
		out = append(out, s)
	}
	return out
}

// stepsToEnd returns the steps of events of the failing execution, where it ends with the use of a closed channel of the close and that use, and where it
// ends with the misuse of an object, of that use. If that is
// in a block, the step tells which, as that of a free does.
func (x *explaining) stepsToEnd(events []int) []Step {
	events = slices.Clone(events)
	if closed, use := pattern.Closed(x.Trace); closed >= 0 {
		if events = append(events, closed); use > closed { // otherwise what is left of it is among the events
			events = append(events, use)
		}
	}
	use, alloc := x.misused()
	if use < 0 {
		return x.steps(x.Trace, events)
	}
	out := x.steps(x.Trace, append(events, use))
	if alloc < 0 {
		return out
	}
	block := x.table(x.Trace).names.Name(x.Trace.Allocs[alloc].Object, symbol.Block, x.Trace.Allocs[alloc].Event).Base
	for i := range out {
		if s := &out[i]; s.Event == use && !slices.Contains(strings.FieldsFunc(s.Text, func(r rune) bool { return r != '#' && (r < '0' || r > '9') }), strings.TrimPrefix(block, "block ")) {
			s.Text += " in " + block
		}
	}
	return out
}

// misused returns the event that uses the object whose misuse ends the execution, and which allocation that is in; -1 if it ends in another
// way, or within a function that has no event for it, and if it is in no block.
func (x *explaining) misused() (use, alloc int) {
	end := &x.Trace.Ending
	if end.Kind != trace.Misuse || end.Object == 0 {
		return -1, -1
	}
	object, alloc := trace.Event{Object: end.Object}, -1
	for i, a := range slices.Backward(x.Trace.Allocs) { // of a block, the ending may name only the beginning
		if own := (trace.Event{Object: a.Object, Size: uint32(min(a.Size, math.MaxUint32))}); pattern.Overlaps(&own, &object) {
			object, alloc = own, i
			break
		}
	}
	for i, ev := range slices.Backward(x.Trace.Events) {
		if ev.Thread == end.Thread {
			if pattern.Overlaps(&ev, &object) {
				return i, alloc
			}
			break
		}
	}
	return -1, -1
}

// callers returns the functions of the program that led to a site, innermost first, those among them that were compiled into their
// callers included. Of a site without one, it has what is known.
func (x *explaining) callers(site trace.Site, stack []trace.Site) (out []string) {
	own := func(frames []symbol.Frame) {
		for _, f := range frames {
			if f.Known() && !f.System() {
				out = append(out, f.String())
			}
		}
	}
	frames := x.names.Frames(site)
	if i := slices.IndexFunc(frames, func(f symbol.Frame) bool { return f.String() == x.names.Place(site) }); i >= 0 {
		own(frames[i+1:])
	}
	for _, s := range stack {
		n := len(out)
		if own(x.names.Frames(s)); len(out) == n {
			out = append(out, x.names.Place(s))
		}
	}
	return out
}

// explained describes an event of an ordering.
func (x *explaining) explained(t *trace.Trace, e int) ExplainedEvent {
	ev := &t.Events[e]
	out := ExplainedEvent{Event: e, Thread: ThreadText(ev.Thread), Operation: verb(ev), Where: x.place(ev)}
	if start, ok := x.timers(t)[e]; ok { // it has no place of its own
		ev = &t.Events[start]
		out.Operation, out.Where = expiry(&t.Events[e])+" of the timer that "+ThreadText(ev.Thread)+" started", x.place(ev)
	}
	out.Stack = x.callers(ev.Site, t.Stacks[ev.Stack])
	for _, lock := range heldBy(t, ev.Thread, e) {
		out.Holds = append(out.Holds, x.names.Object(t, lock, 0, e))
	}
	return out
}

// explainedSecond describes the second event of an ordering, or what its thread waits for.
func (x *explaining) explainedSecond(o *Order) ExplainedEvent {
	if o.Second < 0 {
		out := x.explained(x.Passing, o.InPassing)
		out.Passing = true
		return out
	}
	w := x.Waiter(x.Trace.Events[o.Second].Thread)
	if !o.Waiting || w == nil {
		return x.explained(x.Trace, o.Second)
	}
	out := ExplainedEvent{Event: o.Second, Waiting: true, Thread: ThreadText(w.Thread), Operation: w.Op.String(), Where: x.names.Place(w.Site)}
	out.Stack = x.callers(w.Site, x.Trace.Stacks[w.Stack])
	for _, lock := range heldBy(x.Trace, w.Thread, len(x.Trace.Events)) {
		out.Holds = append(out.Holds, x.names.Object(x.Trace, lock, 0, len(x.Trace.Events)))
	}
	return out
}

// heldBy returns the locks that a thread holds before event e, in the order of their acquisition.
func heldBy(t *trace.Trace, th trace.ThreadID, e int) (locks []trace.Object) {
	for _, l := range ops.LocksAt(t, e) {
		if l.Thread == th {
			locks = append(locks, l.Lock)
		}
	}
	return locks
}

// waits are steps for what threads wait for when the execution ends, except for the end of another thread.
func (x *explaining) waits() (out []Step) {
	const most = 6
	switch x.Trace.Ending.Kind {
	case trace.Deadlock, trace.Hang, trace.Livelock, trace.Leak:
	default:
		return nil
	}
	for i := range x.Trace.Ending.Waiters {
		w := &x.Trace.Ending.Waiters[i]
		if w.MayGoOn() || ops.Does(w.Op) == ops.Join || len(out) == most {
			continue
		}
		s := Step{Event: -1, Thread: ThreadText(w.Thread), Text: "waits: " + w.Op.String(), Where: x.names.Place(x.names.ownCall(x.Trace, w.Site, w.Stack))}
		if w.Object != 0 {
			s.Text += " " + x.names.Object(x.Trace, w.Object, 0, len(x.Trace.Events)-1)
		}
		out = append(out, s)
	}
	return out
}
