package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Patterns that Explain recognises. Each rests on the events of a critical ordering or on how the
// execution ended, and on nothing else.
const (
	LockCycle      = "lock cycle"
	LostUpdate     = "lost update"
	CheckThenAct   = "check then act"
	Unserializable = "unserializable accesses"
	UseAfterFree   = "use after free"
	TooEarly       = "use before initialisation"
	LostWakeUp     = "lost wake-up"
	OrderViolation = "order violation"
)

// Explain completes an explanation of t: it names the objects of e.Orders, the pattern, and writes the text.
// passing is the execution that does not fail, nil for none.
func Explain(t, passing *trace.Trace, names *Running, e *Explanation) {
	x := &explaining{t: t, passing: passing, names: names}
	for i := range e.Orders {
		o := &e.Orders[i]
		o.Object = names.Object(t, t.Events[o.First].Object, t.Events[o.First].Size, o.First)
	}
	var lines []string
	if len(e.Orders) == 0 {
		lines = append(lines, "No single ordering of two events was found whose turning makes the failure vanish.")
	} else {
		var between string
		e.Pattern, between = x.pattern(&e.Orders[0])
		o := &e.Orders[0]
		lines = append(lines, fmt.Sprintf("The execution fails because %s comes before %s.", x.event(o.First), x.second(o)))
		if between != "" {
			lines = append(lines, between)
		}
		moved := ""
		if !o.Controlled {
			moved = ", and what had to move with them,"
		}
		lines = append(lines, fmt.Sprintf("With these two%s the other way round it does not fail (%s).", moved, executions(o.Executions)))
		if lock := x.missingLock(o); lock != "" {
			lines = append(lines, lock)
		}
	}
	if !e.Complete {
		lines = append(lines, "Not every ordering was tried.")
	}
	e.Text = strings.Join(lines, " ")
}

func executions(n int) string {
	if n == 1 {
		return "1 execution"
	}
	return fmt.Sprintf("%d executions", n)
}

type explaining struct {
	t, passing *trace.Trace
	names      *Running
}

// event describes an event with its thread and place.
func (x *explaining) event(i int) string { return x.eventIn(x.t, i) }

func (x *explaining) eventIn(t *trace.Trace, i int) string {
	ev := &t.Events[i]
	object := x.names.Object(t, ev.Object, ev.Size, i)
	s := fmt.Sprintf("T%d's %s", ev.Thread, ev.Op)
	if object != "" && ev.Object != 0 {
		s += " of " + object
	}
	if at := x.names.Place(ev.Site, false); at != "" {
		s += " at " + at
	}
	return s
}

// second describes the second of an ordering, which may be what a thread waits for.
func (x *explaining) second(o *Order) string {
	if o.Second < 0 {
		return x.eventIn(x.passing, o.InPassing) + ", which has not happened when the execution ends"
	}
	if !o.Waiting {
		return x.event(o.Second)
	}
	w := x.waiter(x.t.Events[o.Second].Thread)
	if w == nil {
		return "what a thread waits for"
	}
	s := fmt.Sprintf("T%d's %s of %s, for which it waits", w.Thread, w.Op, x.names.Object(x.t, w.Object, 0, len(x.t.Events)-1))
	if at := x.names.Place(w.Site, false); at != "" {
		s += " at " + at
	}
	return s
}

func (x *explaining) waiter(th trace.ThreadID) *trace.Waiter {
	for i := range x.t.Ending.Waiters {
		if w := &x.t.Ending.Waiters[i]; w.Thread == th {
			return w
		}
	}
	return nil
}

// pattern names the kind of bug that an ordering shows, empty for none, with a sentence about the events that
// show it.
func (x *explaining) pattern(o *Order) (name, sentence string) {
	first, end := &x.t.Events[o.First], &x.t.Ending
	if o.Second < 0 {
		later := &x.passing.Events[o.InPassing]
		if end.Kind == trace.Signal && end.Thread == first.Thread && !changes(first.Op) && changes(later.Op) && first.Value == 0 && !x.written(first, o.First) {
			return TooEarly, "It is 0, and no write of it came before."
		}
		return OrderViolation, ""
	}
	second := &x.t.Events[o.Second]
	a, b := ops.Of(first.Op), ops.Of(second.Op)
	switch {
	case end.Kind == trace.Deadlock && len(end.Cycle) > 1 && x.cycleOfLocks():
		return LockCycle, fmt.Sprintf("%s wait for locks that each other hold.", x.threads(end.Cycle))
	case (a.Does == ops.WakeOne || a.Does == ops.WakeAll) && b.Does == ops.Wait && x.waitsForever(o.Second):
		return LostWakeUp, fmt.Sprintf("T%d still waits when the execution ends, and nobody signals after its wait began.", second.Thread)
	case a.Does == ops.Free && b.Of == ops.Memory, a.Does == ops.Free && b.Does == ops.Free:
		return UseAfterFree, ""
	case o.Waiting:
		return OrderViolation, ""
	case a.Of != ops.Memory || b.Of != ops.Memory:
		f, s, ok := x.inside(o.First, o.Second)
		if !ok {
			return OrderViolation, ""
		}
		first, second = &x.t.Events[f], &x.t.Events[s]
		o = &Order{First: f, Second: s}
	}
	if p, r, c, ok := x.broken(o.First, o.Second); ok {
		sentence = fmt.Sprintf("So %s comes between %s and %s.", x.event(r), x.event(p), x.event(c))
		reads := func(i int) bool { return !changes(x.t.Events[i].Op) }
		switch {
		case reads(p) && !reads(c) && !reads(r):
			return LostUpdate, sentence
		case reads(p) && reads(c):
			return CheckThenAct, sentence
		}
		return Unserializable, sentence
	}
	if end.Kind == trace.Signal && end.Thread == first.Thread && !changes(first.Op) && changes(second.Op) && first.Value == 0 && !x.written(first, o.First) {
		return TooEarly, "It is 0, and no write of it came before."
	}
	return OrderViolation, ""
}

// inside returns accesses of one object in the critical sections that begin with two acquisitions of one lock, one
// of them a write.
func (x *explaining) inside(first, second int) (f, s int, ok bool) {
	if ops.Does(x.t.Events[first].Op) != ops.Acquire || x.t.Events[first].Object != x.t.Events[second].Object {
		return 0, 0, false
	}
	a, b := x.section(first), x.section(second)
	for _, f := range a {
		for _, s := range b {
			one, two := &x.t.Events[f], &x.t.Events[s]
			if one.Object == two.Object && (changes(one.Op) || changes(two.Op)) {
				if _, _, _, broken := x.broken(f, s); broken {
					return f, s, true
				}
			}
		}
	}
	return 0, 0, false
}

// section returns the accesses to memory of the critical section that begins with an acquisition.
func (x *explaining) section(acquire int) (out []int) {
	begin := &x.t.Events[acquire]
	for i := acquire + 1; i < len(x.t.Events); i++ {
		ev := &x.t.Events[i]
		switch {
		case ev.Thread != begin.Thread:
		case ops.Does(ev.Op) == ops.Release && ev.Object == begin.Object:
			return out
		case ops.Of(ev.Op).Of == ops.Memory && ev.Object.Region() != trace.RegionStack:
			out = append(out, i)
		}
	}
	return out
}

// waitsForever reports whether the thread of a wait still waits there when the execution ends, and no wake-up of the
// object follows the wait.
func (x *explaining) waitsForever(wait int) bool {
	ev := &x.t.Events[wait]
	w := x.waiter(ev.Thread)
	return w != nil && w.Object == ev.Object && !slices.ContainsFunc(x.t.Events[wait+1:], func(later trace.Event) bool {
		does := ops.Does(later.Op)
		return later.Object == ev.Object && (later.Thread == ev.Thread || does == ops.WakeOne || does == ops.WakeAll)
	})
}

// changes reports whether an access changes memory.
func changes(op trace.Op) bool {
	switch ops.Does(op) {
	case ops.Read, ops.AtomicRead:
		return false
	}
	return true
}

// broken returns accesses p and c of one thread and r of another on one object, r between the others, so
// that no order of the two threads without an interruption gives the same values (CTrigger, ASPLOS'09, §2).
// The pair is p and r, or r and c.
func (x *explaining) broken(first, second int) (p, r, c int, ok bool) {
	object := x.t.Events[second].Object
	at := func(from, to, step int, th trace.ThreadID) int {
		for i := from; i != to; i += step {
			if ev := &x.t.Events[i]; ev.Thread == th && ev.Object == object && ops.Of(ev.Op).Of == ops.Memory {
				return i
			}
		}
		return -1
	}
	n := len(x.t.Events)
	one, two := x.t.Events[first].Thread, x.t.Events[second].Thread
	candidates := [][3]int{{first, second, at(second+1, n, 1, one)}, {at(first-1, -1, -1, two), first, second}}
	for _, k := range candidates {
		if k[0] < 0 || k[2] < 0 {
			continue
		}
		w := [3]bool{changes(x.t.Events[k[0]].Op), changes(x.t.Events[k[1]].Op), changes(x.t.Events[k[2]].Op)}
		switch w {
		case [3]bool{false, true, false}, [3]bool{true, true, false}, [3]bool{false, true, true}, [3]bool{true, false, true}:
			return k[0], k[1], k[2], true
		}
	}
	return 0, 0, 0, false
}

// written reports whether an access before an event wrote some of what another accesses.
func (x *explaining) written(to *trace.Event, before int) bool {
	return slices.ContainsFunc(x.t.Events[:before], func(ev trace.Event) bool {
		return ops.Of(ev.Op).Of == ops.Memory && changes(ev.Op) && ev.Object < to.Object+trace.Object(max(to.Size, 1)) && to.Object < ev.Object+trace.Object(max(ev.Size, 1))
	})
}

func (x *explaining) cycleOfLocks() bool {
	for _, w := range x.t.Ending.Waiters {
		if slices.Contains(x.t.Ending.Cycle, w.Thread) {
			switch ops.Does(w.Op) {
			case ops.Acquire, ops.AcquireShared:
			default:
				return false
			}
		}
	}
	return true
}

func (x *explaining) threads(list []trace.ThreadID) string {
	var names []string
	for _, th := range list {
		names = append(names, fmt.Sprintf("T%d", th))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// missingLock says which lock guards another access of the object and one of the pair, which have no lock in
// common; empty for none.
func (x *explaining) missingLock(o *Order) string {
	if o.Second < 0 || o.Waiting || x.t.Header.Target == "go" {
		return "" // not a pair of accesses, or the locks held are not known
	}
	first, second := &x.t.Events[o.First], &x.t.Events[o.Second]
	if ops.Of(first.Op).Of != ops.Memory || ops.Of(second.Op).Of != ops.Memory {
		return ""
	}
	held := map[trace.ThreadID]map[trace.Object]bool{}
	guards := map[trace.Object]int{} // lock: accesses of the object that hold it
	var mine [2]map[trace.Object]bool
	accesses := 0
	for i := range x.t.Events {
		ev := &x.t.Events[i]
		h := held[ev.Thread]
		if h == nil {
			h = map[trace.Object]bool{}
			held[ev.Thread] = h
		}
		switch ops.Does(ev.Op) {
		case ops.Acquire:
			if ops.Of(ev.Op).Done(ev) {
				h[ev.Object] = true
			}
		case ops.Release:
			delete(h, ev.Object)
		}
		if ev.Object != second.Object || ops.Of(ev.Op).Of != ops.Memory {
			continue
		}
		accesses++
		for lock := range h {
			guards[lock]++
		}
		for k, e := range []int{o.First, o.Second} {
			if e == i {
				mine[k] = map[trace.Object]bool{}
				for lock := range h {
					mine[k][lock] = true
				}
			}
		}
	}
	for _, lock := range slices.Sorted(func(yield func(trace.Object) bool) {
		for l := range guards {
			if !yield(l) {
				return
			}
		}
	}) {
		without := first
		switch {
		case mine[0][lock] && mine[1][lock]:
			return "" // a lock that both hold
		case mine[0][lock] == mine[1][lock], guards[lock] < 2:
			continue
		case mine[0][lock]:
			without = second
		}
		return fmt.Sprintf("T%d's access holds no %s, which the other holds.", without.Thread, x.names.Object(x.t, lock, 0, o.Second))
	}
	return ""
}
