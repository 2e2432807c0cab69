package depend

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Reorder returns the trace with its events in another order of the graph's nodes, which must keep
// the dependences (Graph.Check). It recomputes enabled sets where the trace had them, numbers
// threads in their new order of creation, and adjusts references to events and threads. The result
// shares modules, stacks and the header's slices with t.
func (g *Graph) Reorder(t *trace.Trace, order []int32) *trace.Trace {
	out := *t
	out.Events = make([]trace.Event, 0, len(t.Events))
	at := make([]int, len(t.Events)+1) // new position of each event
	for _, n := range order {
		from, to := g.EventsOf(n)
		for i := from; i < to; i++ {
			at[i] = len(out.Events)
			out.Events = append(out.Events, t.Events[i])
		}
	}
	at[len(t.Events)] = len(t.Events)
	out.Allocs = moveAllocs(t, at)
	out.Locals = slices.Clone(t.Locals)
	for i := range out.Locals {
		out.Locals[i].Event = at[out.Locals[i].Event]
	}
	slices.SortStableFunc(out.Locals, func(a, b trace.Local) int { return a.Event - b.Event })
	out.Mappings = slices.Clone(t.Mappings)
	for i := range out.Mappings {
		out.Mappings[i].Event = at[out.Mappings[i].Event]
	}
	slices.SortStableFunc(out.Mappings, func(a, b trace.Mapping) int { return a.Event - b.Event })
	renumber(&out)
	SetEnabled(&out)
	return &out
}

// SetEnabled recomputes the enabled sets of a trace's scheduling decisions. It does nothing if the
// trace has none.
func SetEnabled(t *trace.Trace) {
	if !slices.ContainsFunc(t.Events, func(ev trace.Event) bool { return ev.Enabled.Len() > 0 }) {
		return
	}
	for i, set := range ops.Enabled(t) {
		if t.Events[i].Flags&trace.FlagNoDecision == 0 {
			t.Events[i].Enabled = set
		}
	}
}

// moveAllocs keeps heap blocks with their events.
func moveAllocs(t *trace.Trace, at []int) []trace.Alloc {
	// after returns the position right after the event that ran before event i.
	after := func(i int) int {
		if i == 0 {
			return 0
		}
		return at[i-1] + 1
	}
	out := slices.Clone(t.Allocs)
	for i := range out {
		a := &out[i]
		switch {
		case eventIs(t, a.Event, trace.OpMalloc, a.Object):
			a.Event = at[a.Event]
		case a.Event > 0 && t.Events[a.Event-1].Thread == a.Thread:
			a.Event = after(a.Event)
		default:
			// Its thread had no event up to then: see Steps.
			next := a.Event
			for next < len(t.Events) && t.Events[next].Thread != a.Thread {
				next++
			}
			a.Event = at[next]
		}
		switch {
		case a.Freed < 0:
		case eventIs(t, t.Allocs[i].Freed, trace.OpFree, a.Object):
			a.Freed = at[a.Freed]
		default:
			a.Freed = after(a.Freed)
		}
	}
	slices.SortStableFunc(out, func(a, b trace.Alloc) int { return a.Event - b.Event })
	return out
}

// renumber numbers threads in the order in which the events create them.
func renumber(t *trace.Trace) {
	old := make([]trace.ThreadID, len(t.Threads)) // by new id
	to := make([]trace.ThreadID, len(t.Threads))
	created := make([]bool, len(t.Threads))
	for i := range t.Events {
		if id, ok := t.Events[i].Child(); ok && int(id) < len(created) {
			created[id] = true
		}
	}
	// Threads that existed from the start keep their numbers.
	for id := range old {
		old[id] = trace.ThreadID(id)
	}
	left := slices.Clone(created)
	next := 0
	for i := range t.Events {
		id, ok := t.Events[i].Child()
		if !ok || int(id) >= len(left) || !left[id] {
			continue
		}
		left[id] = false
		for !created[next] {
			next++
		}
		old[next] = id
		next++
	}
	same := true
	for id, o := range old {
		to[o] = trace.ThreadID(id)
		same = same && int(o) == id
	}
	if same {
		return
	}
	thread := func(id trace.ThreadID) trace.ThreadID {
		if id >= 0 && int(id) < len(to) {
			return to[id]
		}
		return id
	}
	object := func(o trace.Object) trace.Object {
		if o.Region() == trace.RegionStack {
			return trace.MakeObject(trace.RegionStack, int(thread(trace.ThreadID(o.Index()))), o.Offset())
		}
		return o
	}
	field := func(r ops.Role, v uint64) uint64 {
		switch {
		case r == ops.ThreadNumber && v < trace.MaxThreads:
			return uint64(thread(trace.ThreadID(v)))
		case r == ops.ThreadPlusOne && v > 0 && v <= trace.MaxThreads:
			return uint64(thread(trace.ThreadID(v)-1)) + 1
		case r == ops.ObjectName:
			return uint64(object(trace.Object(v)))
		}
		return v
	}
	threads := make([]trace.Thread, len(t.Threads))
	for id, o := range old {
		threads[id] = t.Threads[o]
		threads[id].ID, threads[id].Parent = trace.ThreadID(id), thread(threads[id].Parent)
	}
	t.Threads = threads
	for i := range t.Events {
		ev := &t.Events[i]
		ev.Thread, ev.Object = thread(ev.Thread), object(ev.Object)
		spec := ops.Of(ev.Op)
		ev.Value, ev.Aux = field(spec.Value, ev.Value), field(spec.Aux, ev.Aux)
		var set trace.ThreadSet
		for u := range ev.Enabled.All() {
			set.Add(thread(u))
		}
		ev.Enabled = set
	}
	for i := range t.Allocs {
		t.Allocs[i].Thread, t.Allocs[i].Object = thread(t.Allocs[i].Thread), object(t.Allocs[i].Object)
	}
	t.Types = slices.Clone(t.Types)
	for i := range t.Types {
		t.Types[i].Object = object(t.Types[i].Object)
	}
	for i := range t.Locals {
		t.Locals[i].Object = object(t.Locals[i].Object)
	}
	e := &t.Ending
	e.Thread, e.Object = thread(e.Thread), object(e.Object)
	e.Waiters = slices.Clone(e.Waiters)
	for i := range e.Waiters {
		w := &e.Waiters[i]
		w.Thread, w.Holder, w.Object = thread(w.Thread), thread(w.Holder), object(w.Object)
	}
	e.Accesses = slices.Clone(e.Accesses)
	for i := range e.Accesses {
		a := &e.Accesses[i]
		a.Thread, a.Object = thread(a.Thread), object(a.Object)
	}
	e.Cycle = slices.Clone(e.Cycle)
	for i := range e.Cycle {
		e.Cycle[i] = thread(e.Cycle[i])
	}
}
