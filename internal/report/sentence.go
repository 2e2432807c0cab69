package report

import (
	"cmp"
	"fmt"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// explaining writes an explanation. It is the pattern.Words of its execution.
type explaining struct {
	pattern.Execution
	names *Running
	lines []string     // sentences of the text
	said  map[int]bool // events of the execution that they have described
	last  string       // the object that they have named last
	detail
	started map[*trace.Trace]map[int]int // by execution, what timers returns
	also    *Order                       // that avoids the failure together with the first ordering, nil if that does so alone
	tables  map[*trace.Trace]table       // by execution, as far as they were needed
	// later is the event of the execution that does not fail for which an ordering's second, an acquisition, stands; -1 for none.
	later int
	// inside is what comes between two operations of another thread; nil for none.
	inside *interruption
}

// Event describes an event with its thread and place, more briefly once it has been described.
func (x *explaining) Event(i int) string {
	ev := &x.Trace.Events[i]
	if x.said[i] {
		if _, ok := x.timers(x.Trace)[i]; ok {
			return "the timer's " + expiry(ev)
		}
		return fmt.Sprintf("T%d's %s", ev.Thread, verb(ev))
	}
	x.said[i] = true
	return x.eventIn(x.Trace, i)
}

func (x *explaining) eventIn(t *trace.Trace, i int) string {
	i = begun(t, i)
	ev := &t.Events[i]
	if start, ok := x.timers(t)[i]; ok {
		place := x.place(&t.Events[start])
		if _, own := x.names.ownPlace(t, start); own != 0 {
			place = x.where(own)
		}
		return "the " + expiry(ev) + " of the timer started at " + cmp.Or(place, "an unknown place")
	}
	object := x.object(t, i)
	s := fmt.Sprintf("T%d's %s", ev.Thread, verb(ev))
	if child, ok := ev.Child(); ok && ops.Does(ev.Op) == ops.Create {
		s += fmt.Sprintf(" of T%d", child)
	}
	switch {
	case object == "":
	case object == x.last:
		s += " of it"
	default:
		s += " of " + object
		x.last = object
	}
	how, own := x.names.ownPlace(t, i)
	return s + x.at(x.place(ev), how, own)
}

// expiry is what an event by which a timer fires is called.
func expiry(ev *trace.Event) string {
	if ev.Op == trace.OpTimerFire {
		return "firing"
	}
	return "expiry"
}

// timers returns ops.Timers of an execution.
func (x *explaining) timers(t *trace.Trace) map[int]int {
	if _, ok := x.started[t]; !ok {
		if x.started == nil {
			x.started = map[*trace.Trace]map[int]int{}
		}
		x.started[t] = ops.Timers(t)
	}
	return x.started[t]
}

// begun returns, for what a goroutine's operation on a channel accesses, the event by which the operation began, and the event itself for others.
func begun(t *trace.Trace, e int) int {
	ev := &t.Events[e]
	if t.Header.Target != "go" || !ev.Op.IsAccess() {
		return e
	}
	for i := e - 1; i >= 0; i-- {
		if b := &t.Events[i]; b.Thread == ev.Thread && b.Flags&trace.FlagNoDecision == 0 {
			if b.Site == ev.Site && ops.Of(b.Op).Of == ops.Channel {
				return i
			}
			break
		}
	}
	return e
}

// at says where something happened and, if own is not 0, how and where the program's own code brought that about.
func (x *explaining) at(place, how string, own trace.Site) string {
	switch {
	case place == "":
		return ""
	case own == 0:
	case x.inLine && how == "called" && strings.HasPrefix(place, "std::"): // a line of the C++ library says nothing
		return " at " + x.where(own)
	case !x.functions:
		return " (" + how + " at " + x.where(own) + ")"
	default:
		return " in " + place + " (" + how + " at " + x.where(own) + ")"
	}
	return " at " + place
}

// waitsAt says where a thread waits when the execution ends.
func (x *explaining) waitsAt(w *trace.Waiter) string {
	how, own := x.names.called(x.Trace, w.Site, w.Stack)
	return x.at(x.where(w.Site), how, own)
}

// Object names what an event of the execution concerns.
func (x *explaining) Object(i int) string { return x.object(x.Trace, i) }

// Place says where an event of the execution happened.
func (x *explaining) Place(i int) string { return x.place(&x.Trace.Events[i]) }

// Value is what an event of the execution read, or what it wrote; what a compare-and-swap found. It is empty if unknown.
func (x *explaining) Value(i int) string {
	c := x.table(x.Trace).cells[i]
	switch {
	case c == nil, ops.Of(x.Trace.Events[i].Op).Of != ops.Memory:
		return ""
	case ops.Does(x.Trace.Events[i].Op) == ops.Exchange:
		return c.After
	}
	return c.Value
}

// table is a view of an execution, and its cells by event.
type table struct {
	*View
	cells map[int]*Cell
	names Names
}

// table returns the table of an execution.
func (x *explaining) table(t *trace.Trace) table {
	if _, ok := x.tables[t]; !ok {
		names := x.names.namesOf(t)
		now := table{Build(t, names, Options{}), map[int]*Cell{}, names}
		for _, r := range now.Full() {
			if r.Cell != nil {
				now.cells[r.Event] = r.Cell
			}
		}
		x.tables[t] = now
	}
	return x.tables[t]
}

// cut shortens a name as the detail of the line demands.
func (x *explaining) cut(name string) string {
	name = strings.ReplaceAll(name, anonymous, "")
	if x.name == 0 {
		return name
	}
	return wording.Middle(name, x.name)
}

// anonymous is the scope of what other files cannot name. It says nothing to a reader.
const anonymous = "(anonymous namespace)::"

// cutObject is cut for an object, whose allocation is left out if it has a name.
func (x *explaining) cutObject(name string) string {
	name = strings.ReplaceAll(name, anonymous, "")
	plain, rest, ok := strings.Cut(name, " (")
	switch {
	case !ok || x.name == 0:
	case plain != "block":
		name = plain
	default:
		if site, offset, ok := allocatedAt(rest); ok { // a name that tells where needs no cut, which would take that away
			return "block (" + site + ")" + offset
		}
	}
	return x.cut(name)
}

// allocatedAt returns where a block was allocated and what follows its description, which ends with a parenthesis:
// `entry, malloc at f.c:3, 64 bytes)+8`. ok is false if it does not tell.
func allocatedAt(described string) (site, offset string, ok bool) {
	described, offset, ok = strings.Cut(described, ")")
	if !ok {
		return "", "", false
	}
	for part := range strings.SplitSeq(described, ", ") {
		if _, site, ok = strings.Cut(part, " at "); ok {
			return site, offset, true
		}
	}
	return "", "", false
}

// where is the place of an instruction, with the function. Without, the file may be cut, too.
func (x *explaining) where(s trace.Site) string {
	l := x.names.locateOwn(s)
	switch {
	case l.Func == "" || l.Text != l.Func+" "+l.Place:
		return x.cut(l.Text)
	case !x.functions:
		if x.name > 0 && x.name <= 16 {
			return x.cut(l.Place)
		}
		return l.Place
	}
	return x.cut(l.Func) + " " + l.Place
}

// Wait says what a thread waits for when the execution ends: `T1 waits for mu at main x.c:3`.
func (x *explaining) Wait(th trace.ThreadID) string {
	w := x.Waiter(th)
	if w == nil {
		return fmt.Sprintf("T%d waits", th)
	}
	if w.Op == trace.OpThreadJoin && w.Holder >= 0 {
		return fmt.Sprintf("T%d waits for T%d to end", th, w.Holder) + x.waitsAt(w)
	}
	s := fmt.Sprintf("T%d waits in %s", th, w.Op)
	object := ""
	if w.Object != 0 {
		object = x.cutObject(x.names.Object(x.Trace, w.Object, 0, len(x.Trace.Events)-1))
	}
	switch does := ops.Does(w.Op); {
	case object == "":
	case does == ops.Acquire, does == ops.AcquireShared:
		s = fmt.Sprintf("T%d waits for %s", th, kinded(w.Op, object))
	default:
		s += " of " + object
	}
	return s + x.waitsAt(w)
}

// Brief implements pattern.Words.
func (x *explaining) Brief() bool { return x.detail.brief }

// object names what an event concerns; empty for a thread, which heddle knows by its stack, and for a timer, which has no name.
func (x *explaining) object(t *trace.Trace, i int) string {
	ev := &t.Events[i]
	switch s := ops.Of(ev.Op); {
	case ev.Object == 0, s.Of == ops.Signal, s.Of == ops.Timer, s.Of == ops.Thread && s.Does != ops.Start:
		return ""
	}
	return kinded(ev.Op, x.cutObject(x.names.Object(t, ev.Object, ev.Size, i)))
}

// kinded says what an object of Go without a type is.
func kinded(op trace.Op, name string) string {
	if strings.HasPrefix(name, "#") {
		switch ops.Of(op).Of {
		case ops.Channel:
			return "channel " + name
		case ops.Mutex, ops.RWLock:
			return "lock " + name
		}
	}
	return name
}

// place is where an event happened. A thread starts in the function that its object names.
func (x *explaining) place(ev *trace.Event) string {
	if ops.Does(ev.Op) == ops.Start {
		return ""
	}
	return x.where(ev.Site)
}

// verb is what an event does.
func verb(ev *trace.Event) string {
	if ev.Op == trace.OpWgAdd && int64(ev.Value) == -1 {
		return "WaitGroup.Done"
	}
	if timedWait(ev) {
		if ev.Op == trace.OpCondWake {
			return "timed-out " + trace.OpCondWait.String()
		}
		return "timed-out " + ev.Op.String()
	}
	if ev.Op == trace.OpResume {
		return "return from " + trace.Op(ev.Value).String()
	}
	if tookDefault(ev) {
		return "default (" + ev.Op.String() + " would wait)"
	}
	return ev.Op.String()
}

// tookDefault reports whether an event is a send or receive that its select did not make, since it would have had to wait.
func tookDefault(ev *trace.Event) bool {
	return ops.Does(ev.Op) == ops.Communicate && !ops.Of(ev.Op).Done(ev)
}

// timedWait reports whether an event is the end of a wait whose time was over.
func timedWait(ev *trace.Event) bool {
	s := ops.Of(ev.Op)
	return s.Blocks != ops.UntilTime && s.Blocks != ops.Never && (ev.Flags&trace.FlagTimeout != 0 || ev.Op < trace.OpGo && ev.Result == int32(syscall.ETIMEDOUT))
}

// second describes the second of an ordering, which may be what a thread waits for.
func (x *explaining) second(o *Order) string {
	if o.Second < 0 {
		return x.yetToCome(o.InPassing)
	}
	if !o.Waiting {
		return x.Event(o.Second)
	}
	w := x.Waiter(x.Trace.Events[o.Second].Thread)
	if w == nil {
		return "what a thread waits for"
	}
	s := fmt.Sprintf("T%d's %s", w.Thread, w.Op)
	if w.Object != 0 { // of a select, its cases have the objects
		s += " of " + x.cutObject(x.names.Object(x.Trace, w.Object, 0, len(x.Trace.Events)-1))
	}
	return s + ", for which it waits" + x.waitsAt(w)
}

// yetToCome describes an event of the execution that does not fail, which the failing one does not come to.
func (x *explaining) yetToCome(i int) string {
	s := x.eventIn(x.Passing, i)
	switch {
	case x.inLine && !x.otherwise:
		return s
	case x.inLine:
		return s + ", which is yet to come"
	}
	return s + ", which has not happened when the execution ends"
}

// Threads lists threads: `T1, T2 and T3`.
func (x *explaining) Threads(list []trace.ThreadID) string {
	var names []string
	for _, th := range list {
		names = append(names, fmt.Sprintf("T%d", th))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
