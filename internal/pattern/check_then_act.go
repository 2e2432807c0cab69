package pattern

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// CheckThenAct is a decision on what another thread changes before it is carried out.
const CheckThenAct = "check then act"

var checkThenAct = &Pattern{
	Name:  CheckThenAct,
	Shows: "another thread writes between two reads, which may be in different critical sections; the second read neither repeats the first, as in a loop that waits, nor is of another call that is made whatever the first one returns",
	find: func(x *Execution) *Match {
		if t := x.interleaving(); t != nil && x.Reads(t[0]) && x.Reads(t[2]) && x.seen(t[1], t[2]) && !x.repeats(t[0], t[2]) && !x.regardless(t[0], t[2]) {
			return &Match{Triple: t, More: x.act(t[2])}
		}
		return nil
	},
}

// seen reports whether no third thread writes what two accesses concern between them.
func (x *Execution) seen(write, read int) bool {
	one, two := x.event(write), x.event(read)
	return !slices.ContainsFunc(x.Trace.Events[write+1:read], func(ev trace.Event) bool {
		return ev.Thread != one.Thread && ev.Thread != two.Thread && isAccess(&ev) && ops.Changes(&ev) && Overlaps(&ev, two)
	})
}

// repeats reports whether a thread looks once more at what it has looked at: the same instruction with the same callers reads again, or the
// same line does after the thread has waited. Compilers read at other instructions within a loop than ahead of it.
func (x *Execution) repeats(check, again int) bool {
	if x.Calls == nil {
		return false
	}
	if !slices.Equal(x.Calls(x.Trace, check), x.Calls(x.Trace, again)) {
		return false
	}
	one := x.event(check)
	return one.Site == x.event(again).Site || slices.ContainsFunc(x.Trace.Events[check+1:again], func(ev trace.Event) bool {
		return ev.Thread == one.Thread && ev.Flags&trace.FlagNoDecision == 0 && !isStep(&ev)
	})
}

// regardless reports whether the second of two reads does not depend on the first: that was in a call which has returned, and where it reads
// another value in an execution that does not fail, its thread does the same up to the second read.
func (x *Execution) regardless(check, act int) bool {
	if x.Calls == nil || !x.returned(check, act) {
		return false
	}
	one := x.event(check)
	mine := own(x.Trace, one.Thread)
	from, to := slices.Index(mine, one), slices.Index(mine, x.event(act))
	same := func(a, b *trace.Event) bool { return a.Op == b.Op && a.Site == b.Site }
	return slices.ContainsFunc(append([]*trace.Trace{x.Passing}, x.Others...), func(t *trace.Trace) bool {
		if t == nil {
			return false
		}
		th := slices.IndexFunc(t.Threads, func(th trace.Thread) bool { return th.Name == x.Trace.Threads[one.Thread].Name })
		if th < 0 {
			return false
		}
		there := own(t, trace.ThreadID(th))
		return len(there) > to && there[from].Value != one.Value && slices.EqualFunc(mine[:to+1], there[:to+1], same)
	})
}

// own returns the events of a thread.
func own(t *trace.Trace, th trace.ThreadID) (list []*trace.Event) {
	for i := range t.Events {
		if ev := &t.Events[i]; ev.Thread == th {
			list = append(list, ev)
		}
	}
	return list
}

// returned reports whether an event was in a call that had returned by another event of its thread.
func (x *Execution) returned(e, later int) bool {
	one, two := x.Calls(x.Trace, e), x.Calls(x.Trace, later)
	slices.Reverse(one) // the outermost first
	slices.Reverse(two)
	n := 0
	for n < min(len(one), len(two)) && one[n] == two[n] {
		n++
	}
	return n < len(one)-1
}

// act returns the write that a thread goes on to after an access of the same object, as its next step on that, nil for none.
func (x *Execution) act(from int) []int {
	ev := x.event(from)
	e := x.straight(from+1, ev.Thread, func(other *trace.Event) bool {
		return isAccess(other) && other.Object == ev.Object && ops.Changes(other)
	})
	if e < 0 {
		return nil
	}
	return []int{e}
}
