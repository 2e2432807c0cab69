package engine

import (
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Schedules in which two events of an execution happen the other way round, and whether another execution had
// them so: for the consequences of races (harm) and for the critical order (Explain).

// turn is a pair of schedules that differ in the place of one of two accesses.
type turn struct {
	turned  []schedule.Step // the later access comes before the earlier one
	control []schedule.Step // it does not; the threads' other operations are as in turned
}

// turns returns schedules in which event second of an execution comes before event first, if both are
// scheduling decisions: one with the operations of first's thread between them moved behind second, and
// one with those of second's thread moved before first. The controls leave first, or second, where it was.
func turns(t *trace.Trace, first, second int) []turn {
	const decision = trace.FlagNoDecision
	if t.Events[first].Flags&decision != 0 || t.Events[second].Flags&decision != 0 {
		return nil
	}
	split := func(events []trace.Event, thread trace.ThreadID) (its, rest []trace.Event) {
		for i := range events {
			if events[i].Thread == thread {
				its = append(its, events[i])
			} else {
				rest = append(rest, events[i])
			}
		}
		return its, rest
	}
	with := func(between ...[]trace.Event) []schedule.Step {
		return schedule.Steps(slices.Concat(t.Events[:first], slices.Concat(between...), t.Events[second+1:]))
	}
	a, b := t.Events[first:first+1], t.Events[second:second+1]
	between := t.Events[first+1 : second]
	mine, others := split(between, a[0].Thread)
	theirs, rest := split(between, b[0].Thread)
	return []turn{
		{with(others, b, a, mine), with(a, others, b, mine)},
		{with(theirs, b, a, rest), with(theirs, a, rest, b)},
	}
}

// isTurned reports whether another execution has the later access of an instance in base and has not
// had the earlier one before it: accesses are the same if their threads have one name and have
// performed the instruction as often before.
func isTurned(base, other *trace.Trace, x *instance) bool {
	a, b := occurrence(base, x.first, other), occurrence(base, x.second, other)
	return b >= 0 && (a < 0 || b < a)
}

// occurrence returns the event of other that corresponds to an event of base, -1 if other lacks it.
func occurrence(base *trace.Trace, event int, other *trace.Trace) int {
	e := &base.Events[event]
	before := 0
	for i := range base.Events[:event] {
		if x := &base.Events[i]; x.Thread == e.Thread && x.Site == e.Site && x.Op == e.Op {
			before++
		}
	}
	name := base.Threads[e.Thread].Name
	for i := range other.Events {
		if x := &other.Events[i]; x.Site == e.Site && x.Op == e.Op && other.Threads[x.Thread].Name == name {
			if before == 0 {
				return i
			}
			before--
		}
	}
	return -1
}

// overlap reports whether two accesses have a byte in common.
func overlap(a, b *trace.Event) bool {
	x, y := a.Object, b.Object
	if x.Region() == trace.RegionStack {
		x, y = y, x // offsets into a stack descend as addresses ascend
		a, b = b, a
	}
	return x <= y && uint64(y-x) < uint64(max(a.Size, 1)) || y <= x && uint64(x-y) < uint64(max(b.Size, 1))
}
