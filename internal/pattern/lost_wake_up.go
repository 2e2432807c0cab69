package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// LostWakeUp is a signal that comes before the wait for it, also called a missed signal.
const LostWakeUp = "lost wake-up"

var lostWakeUp = &Pattern{
	Name:  LostWakeUp,
	Shows: "a wait never ends, and the broadcast, or a signal that woke no thread, came before it; also called a missed signal. Go: a receive never ends, and a send took the default of its `select` before it",
	find: func(x *Execution) *Match {
		o := x.Order
		if o == nil || o.Second < 0 {
			return nil
		}
		say := func(Words) string {
			return fmt.Sprintf("T%d is still waiting when the execution ends: nothing signals it once its wait has begun.", x.event(o.Second).Thread)
		}
		if x.misses(o.First, o.Second) || x.missesSend(o) {
			return &Match{Say: say}
		}
		if o.Waiting {
			return nil
		}
		if wake, wait, ok := x.lostInside(o.First, o.Second); ok {
			return &Match{Section: []int{wake, wait}, Say: say}
		}
		return nil
	},
}

// LosesWakeUp reports whether an ordering of two events is that of a wake-up before a wait which never ends, or of the critical
// sections that they are in. passing is an execution that does not fail; nil for none.
func LosesWakeUp(t, passing *trace.Trace, first, second int) bool {
	return lostWakeUp.find(&Execution{Trace: t, Passing: passing, Order: &Order{First: first, Second: second}}) != nil
}

// lostInside returns a wake-up in the critical section of the first of two acquisitions of one lock, and a wait for it
// in that of the second, which never ends.
func (x *Execution) lostInside(first, second int) (wake, wait int, ok bool) {
	if ops.Does(x.event(first).Op) != ops.Acquire || x.event(first).Object != x.event(second).Object {
		return 0, 0, false
	}
	_, wakes := section(x.Trace, first)
	_, waits := section(x.Trace, second)
	for _, wake := range wakes {
		for _, wait := range waits {
			if x.misses(wake, wait) {
				return wake, wait, true
			}
		}
	}
	return 0, 0, false
}

// misses reports whether a wake-up comes too early for a wait on the same object, which never ends.
func (x *Execution) misses(wake, wait int) bool {
	one, two := x.event(wake), x.event(wait)
	return x.missed(wake) && ops.Does(two.Op) == ops.Wait && one.Object == two.Object && x.waitsForever(wait) && !x.idles(two.Thread)
}

// missesSend reports whether the first event of an ordering is a send that took the default of its select because no goroutine was
// receiving, and the second a receive or select that never ends.
func (x *Execution) missesSend(o *Order) bool {
	send, wait := x.event(o.First), x.event(o.Second)
	if send.Op != trace.OpChanSend || ops.Of(send.Op).Done(send) {
		return false
	}
	w := x.Waiter(wait.Thread)
	switch {
	case w == nil, !o.Waiting && w.Site != wait.Site:
		return false
	case w.Op == trace.OpChanRecv:
		return w.Object == send.Object
	}
	return w.Op == trace.OpSelect
}

// missed reports whether a wake-up may have come too early for a thread: a signal that has woken one was not missed.
func (x *Execution) missed(wake int) bool {
	_, woken := x.woken(wake)
	return isWake(x.event(wake)) && !woken
}

// waitsForever reports whether the thread of a wait still waits there when the execution ends, and no wake-up of the
// object follows the wait.
func (x *Execution) waitsForever(wait int) bool {
	ev := x.event(wait)
	w := x.Waiter(ev.Thread)
	return w != nil && w.Object == ev.Object && !slices.ContainsFunc(x.Trace.Events[wait+1:], func(later trace.Event) bool {
		return later.Object == ev.Object && (later.Thread == ev.Thread || isWake(&later))
	})
}

// idles reports whether a thread that waits forever for a condition comes to wait there in the execution that does not fail, too, with
// the same done before, and is woken by one that waits forever itself and has not come to that: it only waits for that thread.
func (x *Execution) idles(th trace.ThreadID) bool {
	w := x.Waiter(th)
	if x.Passing == nil || w == nil || int(th) >= len(x.Trace.Threads) || ops.Of(w.Op).Of != ops.Condition {
		return false
	}
	own := slices.IndexFunc(x.Passing.Threads, func(t trace.Thread) bool { return t.Name == x.Trace.Threads[th].Name })
	last := -1
	for i := range x.Passing.Events {
		if ev := &x.Passing.Events[i]; int(ev.Thread) == own && ops.Does(ev.Op) == ops.Wait && ev.Object == w.Object {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	wake := last
	for ; wake < len(x.Passing.Events); wake++ {
		if ev := &x.Passing.Events[wake]; ev.Object == w.Object {
			if other, ok := woken(x.Passing, wake); ops.Does(ev.Op) == ops.WakeAll || ok && other == trace.ThreadID(own) {
				break
			}
		}
	}
	if wake == len(x.Passing.Events) {
		return false
	}
	by := x.Passing.Threads[x.Passing.Events[wake].Thread].Name
	stuck := slices.ContainsFunc(x.Trace.Ending.Waiters, func(o trace.Waiter) bool { return o.Thread != th && x.Trace.Threads[o.Thread].Name == by })
	return stuck && x.did(x.Passing.Threads[own].Name, last) && !x.did(by, wake+1)
}

// did reports whether a thread has changed all that it changes in the first n events of the execution that does not fail.
func (x *Execution) did(name uint64, n int) bool {
	left := map[operation]int{}
	count := func(t *trace.Trace, n, by int) {
		for i := range t.Events[:n] {
			ev := &t.Events[i]
			if t.Threads[ev.Thread].Name == name && (isWake(ev) || isAccess(ev) && ops.Changes(ev) && ev.Object.Region() != trace.RegionStack) {
				left[operation{ev.Site, ev.Op}] += by
			}
		}
	}
	count(x.Passing, n, 1)
	count(x.Trace, len(x.Trace.Events), -1)
	for _, more := range left {
		if more > 0 {
			return false
		}
	}
	return true
}
