package pattern

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// section returns the accesses to memory of the critical section that begins with an acquisition, or ends with a
// release, and its events on conditions. Where a channel is used as a lock, its next operation ends the section.
func section(t *trace.Trace, at int) (accesses, conditions []int) {
	bound := &t.Events[at]
	lock := cmp.Or(ops.AcquiresAt(t, at), bound.Object)
	from, step := at+1, 1
	if does := ops.Does(bound.Op); does == ops.Release || does == ops.ReleaseShared {
		from, step = at-1, -1
	}
	depth := 1 // of a lock that the thread may acquire again
	for i := from; i >= 0 && i < len(t.Events); i += step {
		ev := &t.Events[i]
		s := ops.Of(ev.Op)
		if ev.Thread != bound.Thread {
			continue
		}
		switch s.Does {
		case ops.Acquire, ops.AcquireShared, ops.Release, ops.ReleaseShared:
			if ev.Object != lock || !s.Done(ev) {
				break
			}
			releases := s.Does == ops.Release || s.Does == ops.ReleaseShared
			if depth++; releases == (step > 0) {
				depth -= 2
			}
			if depth == 0 {
				return accesses, conditions
			}
		case ops.Communicate:
			if ev.Object == lock && s.Done(ev) && ev.Flags&trace.FlagNoDecision == 0 {
				return accesses, conditions
			}
		}
		switch {
		case s.Of == ops.Memory && ev.Object.Region() != trace.RegionStack && (ev.Site == 0 || ev.Site != bound.Site): // not a part of the operation
			accesses = append(accesses, i)
		case s.Of == ops.Condition:
			conditions = append(conditions, i)
			if ops.ReleasesAt(t, i) == lock {
				return accesses, conditions // it releases the lock
			}
		}
	}
	return accesses, conditions
}

// Conflict reports whether two critical sections, which begin with two acquisitions of one lock, access the same memory, and one changes it. Of
// one that has no accesses, nothing is known.
func Conflict(t *trace.Trace, first, second int) bool {
	a, _ := section(t, first)
	b, _ := section(t, second)
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(f int) bool {
		return slices.ContainsFunc(b, func(s int) bool {
			one, two := &t.Events[f], &t.Events[s]
			return one.Object == two.Object && (ops.Changes(one) || ops.Changes(two))
		})
	})
}

// SameLock reports whether two events acquire the same lock.
func (x *Execution) SameLock(first, second int) bool {
	lock := ops.AcquiresAt(x.Trace, first)
	return lock != 0 && lock == ops.AcquiresAt(x.Trace, second)
}

// meant returns the events of the ordering, and the execution of the second; nil for none. The accesses stand for acquisitions that guard them.
func (x *Execution) meant() (first, second int, in *trace.Trace) {
	o := x.Order
	if o == nil || o.Waiting {
		return 0, 0, nil
	}
	switch events, later := x.Guarded(o); {
	case len(events) == 2:
		return events[0], events[1], x.Trace
	case len(events) == 1:
		return events[0], later, x.Passing
	case o.Second < 0:
		return o.First, o.InPassing, x.Passing
	}
	return o.First, o.Second, x.Trace
}

// Guarded returns the accesses to memory for which two acquisitions of one lock stand: of their critical sections, the last of the
// first and the first of the second that conflict. later is the second one's event if it is of the execution that does not fail,
// otherwise -1: there it happens later, or its thread gets the lock. If the second thread waits, events has the last access of the first
// section to memory that other threads access.
func (x *Execution) Guarded(o *Order) (events []int, later int) {
	if ops.AcquiresAt(x.Trace, o.First) == 0 && !x.token(o) {
		return nil, -1
	}
	first, _ := section(x.Trace, o.First)
	if o.Waiting {
		for _, f := range slices.Backward(first) {
			one := x.event(f)
			if slices.ContainsFunc(x.Trace.Events, func(ev trace.Event) bool {
				return ev.Thread != one.Thread && ev.Object == one.Object && isAccess(&ev)
			}) {
				return []int{f}, -1
			}
		}
		return nil, -1
	}
	in, second := x.Trace, o.Second
	if second < 0 {
		in, second = x.Passing, o.InPassing
	}
	behind, _ := section(in, second)
	if len(behind) == 0 && in == x.Trace && x.Passing != nil {
		own := x.event(second)
		for i, ev := range slices.Backward(x.Passing.Events) {
			if ev.Thread == own.Thread && ev.Op == own.Op && ev.Site == own.Site && ev.Object == own.Object {
				in = x.Passing
				behind, _ = section(in, i)
				break
			}
		}
	}
	for _, f := range slices.Backward(first) {
		for _, s := range behind {
			one, two := x.event(f), &in.Events[s]
			if one.Object == two.Object && (ops.Changes(one) || ops.Changes(two)) {
				if in == x.Passing {
					return []int{f}, s
				}
				return []int{f, s}, -1
			}
		}
	}
	return nil, -1
}

// token reports whether the events of an ordering are operations on a channel that serves as a lock: the second one's thread takes a token
// and gives it back, by a send and a receive or the other way round.
func (x *Execution) token(o *Order) bool {
	first, second, ok := x.later()
	if !ok || first.Op != second.Op || first.Object != second.Object {
		return false
	}
	back := trace.OpChanRecv
	switch first.Op {
	case trace.OpChanSend:
	case trace.OpChanRecv:
		back = trace.OpChanSend
	default:
		return false
	}
	for _, t := range []*trace.Trace{x.Trace, x.Passing} {
		taken := false
		for i := range t.Events {
			ev := &t.Events[i]
			if ev.Thread != second.Thread || ev.Object != second.Object || !ops.Of(ev.Op).Done(ev) {
				continue
			}
			if taken && ev.Op == back {
				return true
			}
			taken = taken || ev.Op == first.Op
		}
		if x.Passing == nil {
			break
		}
	}
	return false
}
