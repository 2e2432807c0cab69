package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
)

// StolenWakeUp is a wake-up of which a thread other than the woken one has the benefit.
const StolenWakeUp = "stolen wake-up"

var stolenWakeUp = &Pattern{
	Name:   StolenWakeUp,
	Shows:  "a thread has been woken from its wait on a condition, but before it has the lock again another acquires it and changes what the first one then accesses",
	misuse: true,
	find: func(x *Execution) *Match {
		first, second, ok := x.pair()
		if !ok || ops.Does(first.Op) != ops.Acquire || ops.Does(second.Op) == ops.Acquire || !x.SameLock(x.Order.First, x.Order.Second) {
			return nil
		}
		wake := x.wakes(x.Order.First, x.Order.Second)
		if wake < 0 || x.event(wake).Thread == first.Thread && x.usesWakeUp(x.Order.Second) {
			return nil
		}
		section, _ := x.Guarded(x.Order)
		return &Match{Bare: true, Section: section, More: []int{wake}, Say: func(w Words) string {
			return fmt.Sprintf("%s has woken T%d before, but T%d acquires the lock first.", w.Event(wake), second.Thread, first.Thread)
		}}
	},
}

// wakes returns the event by which another thread woke the one whose wait on a condition returns with event second, if that
// was before event first, and the section that begins with first changes memory which the woken thread accesses after its wait.
// Otherwise it returns -1.
func (x *Execution) wakes(first, second int) int {
	back := x.event(second)
	accesses, _ := section(x.Trace, first)
	mine, _ := section(x.Trace, second)
	taken := slices.ContainsFunc(accesses, func(a int) bool {
		return ops.Changes(x.event(a)) && slices.ContainsFunc(mine, func(b int) bool { return x.event(a).Object == x.event(b).Object })
	})
	for i := first - 1; i >= 0 && taken; i-- {
		ev := x.event(i)
		does := ops.Does(ev.Op)
		if ev.Object != back.Object {
			continue
		}
		switch {
		case does == ops.Wait && ev.Thread == back.Thread:
			return -1
		case does == ops.WakeAll:
			return i
		case does == ops.WakeOne:
			if th, ok := x.woken(i); ok && th == back.Thread {
				if x.tells(i, th) == useless { // it was for another thread
					return -1
				}
				return i
			}
		}
	}
	return -1
}

// usesWakeUp reports whether a thread that returns from its wait releases the lock for good after it, and does not wait again.
func (x *Execution) usesWakeUp(back int) bool {
	lock := ops.AcquiresAt(x.Trace, back)
	for i := back + 1; i < len(x.Trace.Events); i++ {
		if x.event(i).Thread == x.event(back).Thread && ops.ReleasesAt(x.Trace, i) == lock {
			return ops.Does(x.event(i).Op) != ops.Wait
		}
	}
	return false
}
