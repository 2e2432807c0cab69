package report

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/trace"
)

// explaining writes an explanation. It is the pattern.Words of its execution.
type explaining struct {
	pattern.Execution
	names *Running
	lines []string     // sentences of the text
	said  map[int]bool // events of the execution that they have described
	last  string       // the object that they have named last
}

// Event describes an event with its thread and place, more briefly once it has been described.
func (x *explaining) Event(i int) string {
	ev := &x.Trace.Events[i]
	if x.said[i] {
		return fmt.Sprintf("T%d's %s", ev.Thread, verb(ev))
	}
	x.said[i] = true
	return x.eventIn(x.Trace, i)
}

func (x *explaining) eventIn(t *trace.Trace, i int) string {
	ev := &t.Events[i]
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
	switch at, own := x.place(ev), x.names.ownPlace(t, i); {
	case at == "":
	case own != "":
		s += " in " + at + ", " + own + ","
	default:
		s += " at " + at
	}
	return s
}

// object names what an event concerns; empty for a thread, which heddle knows by its stack.
func (x *explaining) object(t *trace.Trace, i int) string {
	ev := &t.Events[i]
	switch s := ops.Of(ev.Op); {
	case ev.Object == 0, s.Of == ops.Signal, s.Of == ops.Thread && s.Does != ops.Start:
		return ""
	}
	name := x.names.Object(t, ev.Object, ev.Size, i)
	if strings.HasPrefix(name, "#") { // of Go, and without a type
		switch ops.Of(ev.Op).Of {
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
	return x.names.Place(ev.Site)
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
	return ev.Op.String()
}

// timedWait reports whether an event is the end of a wait whose time was over.
func timedWait(ev *trace.Event) bool {
	s := ops.Of(ev.Op)
	return s.Blocks != ops.UntilTime && s.Blocks != ops.Never && (ev.Flags&trace.FlagTimeout != 0 || ev.Op < trace.OpGo && ev.Result == int32(syscall.ETIMEDOUT))
}

// second describes the second of an ordering, which may be what a thread waits for.
func (x *explaining) second(o *Order) string {
	if o.Second < 0 {
		return x.eventIn(x.Passing, o.InPassing) + ", which has not happened when the execution ends"
	}
	if !o.Waiting {
		return x.Event(o.Second)
	}
	w := x.waiter(x.Trace.Events[o.Second].Thread)
	if w == nil {
		return "what a thread waits for"
	}
	s := fmt.Sprintf("T%d's %s of %s, for which it waits", w.Thread, w.Op, x.names.Object(x.Trace, w.Object, 0, len(x.Trace.Events)-1))
	if at := x.names.Place(w.Site); at != "" {
		s += " at " + at
	}
	return s
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
