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
	Shows: "a wait never ends, and the broadcast, or the signal that woke nobody, came before it; also called a missed signal",
	find: func(x *Execution) *Match {
		o := x.Order
		if o == nil || o.Second < 0 {
			return nil
		}
		say := func(Words) string {
			return fmt.Sprintf("T%d is still waiting when the execution ends: nothing signals it once its wait has begun.", x.event(o.Second).Thread)
		}
		if x.misses(o.First, o.Second) {
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
// sections that they are in.
func LosesWakeUp(t *trace.Trace, first, second int) bool {
	return lostWakeUp.find(&Execution{Trace: t, Order: &Order{First: first, Second: second}}) != nil
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
	return x.missed(wake) && ops.Does(two.Op) == ops.Wait && one.Object == two.Object && x.waitsForever(wait)
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
	w := x.waiter(ev.Thread)
	return w != nil && w.Object == ev.Object && !slices.ContainsFunc(x.Trace.Events[wait+1:], func(later trace.Event) bool {
		return later.Object == ev.Object && (later.Thread == ev.Thread || isWake(&later))
	})
}
