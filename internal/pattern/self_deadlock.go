package pattern

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// SelfDeadlock is a thread that waits for a lock which it holds itself.
const SelfDeadlock = "self-deadlock"

var selfDeadlock = &Pattern{
	Name:  SelfDeadlock,
	Shows: "a thread waits for a lock that it holds itself; also called a double lock",
	find: func(x *Execution) *Match {
		switch x.Trace.Ending.Kind {
		case trace.Deadlock, trace.Hang, trace.Leak:
		default:
			return nil
		}
		for i := range x.Trace.Ending.Waiters {
			w := &x.Trace.Ending.Waiters[i]
			does := ops.Does(w.Op)
			if w.MayGoOn() || w.Object == 0 || does != ops.Acquire && does != ops.AcquireShared {
				continue
			}
			since, shared := x.holds(w.Thread, w.Object, len(x.Trace.Events))
			if since < 0 || shared && does == ops.AcquireShared {
				continue // a second lock for reading waits for a thread that waits to write, and not for the first one
			}
			if x.Trace.Header.Target == "go" && since == x.last(w.Thread) {
				continue // of Go, the lock that a thread waits for is an event, too
			}
			if x.Trace.Header.Target == "go" && x.mayHand(w) {
				continue
			}
			fact := func(words Words) string {
				return words.Wait(w.Thread) + ", and holds it itself since its lock" + at(words, since)
			}
			return alone(fact, since)
		}
		return nil
	},
}

// mayHand reports whether another goroutine waits that w's may have handed its lock: any may unlock a mutex of package sync.
func (x *Execution) mayHand(w *trace.Waiter) bool {
	return slices.ContainsFunc(x.Trace.Ending.Waiters, func(o trace.Waiter) bool {
		return o.Thread != w.Thread && o.Object != w.Object && o.Op != trace.OpWgWait
	})
}

// last returns the last event of a thread, -1 for none.
func (x *Execution) last(th trace.ThreadID) int {
	if x.lasts == nil {
		x.lasts = map[trace.ThreadID]int{}
		for i := range x.Trace.Events {
			x.lasts[x.event(i).Thread] = i
		}
	}
	if i, ok := x.lasts[th]; ok {
		return i
	}
	return -1
}
