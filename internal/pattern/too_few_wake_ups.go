package pattern

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// TooFewWakeUps is a signal that wakes one of several threads which wait for the same change.
const TooFewWakeUps = "too few wake-ups"

var tooFewWakeUps = &Pattern{
	Name:  TooFewWakeUps,
	Shows: "a wait never ends; a signal after it woke another thread, which needed it, too, and no further signal follows",
	find: func(x *Execution) *Match {
		if _, _, ok := x.pair(); !ok {
			return nil
		}
		wake, ok := x.tooFew(x.Order.First, x.Order.Second)
		if !ok {
			return nil
		}
		var left []trace.ThreadID
		for i := range x.Trace.Ending.Waiters {
			if th := x.Trace.Ending.Waiters[i].Thread; x.waitsBefore(th, wake) {
				left = append(left, th)
			}
		}
		return alone(func(w Words) string {
			woken, _ := x.woken(wake)
			return fmt.Sprintf("%s wakes only T%d, while %s on it, too", w.Event(wake), woken, allWait(w, left))
		}, wake)
	},
}

// WakesTooFew reports whether an ordering of two events is that of a thread's check, after which it waits forever, and of the change
// by another thread that it waits for, and whose signal wakes a third one.
func WakesTooFew(t *trace.Trace, first, second int) bool {
	_, ok := (&Execution{Trace: t}).tooFew(first, second)
	return ok
}

// tooFew returns the signal with which the thread of event second tells of a change, if the thread of event first waits for that
// forever, and the signal wakes a third one, which does not wait again.
func (x *Execution) tooFew(first, second int) (wake int, ok bool) {
	waiter := x.event(first).Thread
	w := x.Waiter(waiter)
	wait := x.straight(first, waiter, func(ev *trace.Event) bool { return ops.Does(ev.Op) == ops.Wait && ops.Of(ev.Op).Of == ops.Condition })
	if w == nil || wait < 0 || x.event(wait).Object != w.Object {
		return 0, false
	}
	wake = x.straight(second, x.event(second).Thread, func(ev *trace.Event) bool { return ev.Object == w.Object && isWake(ev) })
	if wake < 0 || !x.waitsBefore(waiter, wake) {
		return 0, false
	}
	other, ok := x.woken(wake)
	if !ok || other == waiter || x.waitsAgain(other, wake) >= 0 || x.tells(wake, other) == useless || x.tells(wake, waiter) == useless { // one of them did not need it
		return 0, false
	}
	again := x.Waiter(other)
	return wake, again == nil || again.Object != w.Object
}

// waitsBefore reports whether a thread has waited on the condition of a wake-up since before that, and does until the execution ends.
func (x *Execution) waitsBefore(th trace.ThreadID, wake int) bool {
	w := x.Waiter(th)
	if w == nil || w.Object != x.event(wake).Object {
		return false
	}
	for i := len(x.Trace.Events) - 1; i >= 0; i-- {
		if ev := x.event(i); ev.Thread == th {
			return i < wake && ops.Does(ev.Op) == ops.Wait && ev.Object == w.Object
		}
	}
	return false
}

// straight returns the first event of a thread from event i on that is accepted, if the thread only reads, writes, and acquires and
// releases locks before it; -1 for none.
func (x *Execution) straight(i int, th trace.ThreadID, is func(ev *trace.Event) bool) int {
	for k := i; k < len(x.Trace.Events); k++ {
		ev := x.event(k)
		if ev.Thread != th {
			continue
		}
		if is(ev) {
			return k
		}
		if !isStep(ev) {
			return -1
		}
	}
	return -1
}
