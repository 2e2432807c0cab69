package engine

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Schedules in which two events of an execution happen the other way round, and whether another execution had
// them so: for the consequences of races (harm) and for the critical order (Explain).

// turn is a schedule that turns two accesses, with controls that differ from it in the place of one of them.
type turn struct {
	turned  []schedule.Step // the later access comes before the earlier one
	control []schedule.Step // it does not; the threads' other operations are as in turned
	near    []schedule.Step // the accesses are neighbours, as in turned, but in their order
}

// turns returns schedules in which event second of an execution comes before event first, if both are
// scheduling decisions: one with the operations of first's thread between them moved behind second, and
// one with those of second's thread moved before first. The controls leave first, or second, where it was, and the
// near ones move everything but the turning of the two.
// An acquisition of a lock stands for its critical section: if the lock stayed acquired, the other thread would wait, and
// the thread that moved would go on to whatever it does next.
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
	inA, inB := section(t, first, second), section(t, second, len(t.Events))
	pick := func(from, to int, in []int, is bool) (out []trace.Event) {
		for i := from; i < to; i++ {
			if slices.Contains(in, i) == is {
				out = append(out, t.Events[i])
			}
		}
		return out
	}
	a, between := pick(first, second, inA, true), pick(first, second, inA, false)
	b, tail := pick(second, len(t.Events), inB, true), pick(second, len(t.Events), inB, false)
	with := func(between ...[]trace.Event) []schedule.Step {
		return schedule.Steps(slices.Concat(t.Events[:first], slices.Concat(between...), tail))
	}
	mine, others := split(between, a[0].Thread)
	theirs, rest := split(between, b[0].Thread)
	return []turn{
		{with(others, b, a, mine), with(a, others, b, mine), with(others, a, b, mine)},
		{with(theirs, b, a, rest), with(theirs, a, rest, b), with(theirs, a, b, rest)},
	}
}

// section returns the events of a thread that move with one of its events: itself, and if it acquires a lock, those up to
// the release, if that comes before event end.
func section(t *trace.Trace, event, end int) []int {
	ev := &t.Events[event]
	in := []int{event}
	if lock := ops.Acquires(ev); lock != 0 && ops.Of(ev.Op).Done(ev) {
		for i := event + 1; i < min(end, event+sectionMost); i++ {
			own := &t.Events[i]
			if own.Thread != ev.Thread {
				continue
			}
			in = append(in, i)
			if releases(own, lock) {
				return in
			}
		}
	}
	return in[:1]
}

// sectionMost bounds how far a release may be from its acquisition.
const sectionMost = 4096

// releases reports whether an event releases a lock, for good or while it waits for a condition.
func releases(ev *trace.Event, lock trace.Object) bool {
	o, ok := released(ev)
	return ok && o == lock
}

// released returns the lock that an event releases.
func released(ev *trace.Event) (lock trace.Object, ok bool) {
	switch ops.Does(ev.Op) {
	case ops.Release, ops.ReleaseShared:
		return ev.Object, true
	case ops.Wait:
		return trace.Object(ev.Aux), true
	}
	return 0, false
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
	x, m := race.Place(a)
	y, n := race.Place(b)
	if x.Region() == trace.RegionStack {
		x, y = y, x // offsets into a stack descend as addresses ascend
		m, n = n, m
	}
	return x <= y && uint64(y-x) < uint64(m) || y <= x && uint64(x-y) < uint64(n)
}
