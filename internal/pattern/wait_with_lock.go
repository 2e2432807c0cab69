package pattern

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// WaitWithLock is a wait for something other than a lock by a thread that holds a lock, for which others wait.
const WaitWithLock = "wait with a lock held"

var waitWithLock = &Pattern{
	Name:  WaitWithLock,
	Shows: "a thread waits for something other than a lock and holds a lock meanwhile, for which others wait; if one of them has it first, the execution does not fail",
	find: func(x *Execution) *Match {
		o := x.Order
		if k := x.Trace.Ending.Kind; o == nil || o.Second < 0 || k != trace.Deadlock && k != trace.Hang && k != trace.Leak {
			return nil
		}
		// The ordering shows that those who wait for the lock matter: others may wait for it, too, whatever the failure is.
		lock, holder := ops.AcquiresAt(x.Trace, o.First), x.event(o.First).Thread
		if lock == 0 || !x.waitsForOther(holder) {
			return nil
		}
		since, _ := x.holds(holder, lock, len(x.Trace.Events))
		if since < 0 || since != o.First && since != ops.ObtainedAt(x.Trace, o.First) {
			return nil
		}
		var behind []trace.ThreadID
		for i := range x.Trace.Ending.Waiters {
			if w := &x.Trace.Ending.Waiters[i]; waitsForLock(w) && w.Object == lock {
				behind = append(behind, w.Thread)
			}
		}
		second := x.waiter(x.event(o.Second).Thread)
		if second == nil || !waitsForLock(second) || second.Object != lock || !o.Waiting && ops.AcquiresAt(x.Trace, o.Second) != lock {
			return nil
		}
		fact := func(w Words) string {
			held, others := w.Object(o.First), w.Threads(behind)+" wait"
			if len(behind) == 1 {
				_, where, _ := strings.Cut(w.Wait(behind[0]), " for "+held)
				others = fmt.Sprintf("T%d waits%s", behind[0], where)
			}
			since := ""
			if p := w.Place(o.First); p != "" {
				since = " since " + p
			}
			return fmt.Sprintf("%s and holds %s%s, for which %s", w.Wait(holder), held, since, others)
		}
		return alone(fact, o.First).unguarded()
	},
}

// waitsForOther reports whether a thread waits for something other than a lock when the execution ends.
func (x *Execution) waitsForOther(th trace.ThreadID) bool {
	w := x.waiter(th)
	return w != nil && !w.Ready && w.Op != trace.OpNone && !waitsForLock(w)
}

func waitsForLock(w *trace.Waiter) bool {
	does := ops.Does(w.Op)
	return !w.Ready && (does == ops.Acquire || does == ops.AcquireShared)
}
