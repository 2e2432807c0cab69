package pattern

import (
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// LockCycle is a deadlock of threads that acquire locks in different orders.
const LockCycle = "lock cycle"

var lockCycle = &Pattern{
	Name:  LockCycle,
	Shows: "threads wait in a circle, each for a lock that another of them holds, or in Go is to unlock",
	find: func(x *Execution) *Match {
		if x.Trace.Ending.Kind != trace.Deadlock {
			return nil
		}
		circle, handed := x.lockCycle()
		if len(circle) < 2 {
			return nil
		}
		m := &Match{Say: func(w Words) string {
			if handed {
				return w.Threads(circle) + " wait in a circle: each for a lock that another of them holds, or would unlock if the execution did not fail."
			}
			return w.Threads(circle) + " wait in a circle: each for a lock that another of them holds."
		}}
		if x.Order == nil {
			m.Fact = func(w Words) string {
				var waits []string
				for _, th := range circle {
					waits = append(waits, w.Wait(th))
				}
				return strings.Join(waits, ", ")
			}
		}
		return m
	},
}

// lockCycle returns threads each of which waits for a lock that the next one holds, and the last one for one that the first
// holds; nil for none. A lock that several threads hold for reading is followed to each of them. handed says that a goroutine has locked
// one of the locks and another of them is to unlock it.
func (x *Execution) lockCycle() (circle []trace.ThreadID, handed bool) {
	held := ops.LocksAt(x.Trace, len(x.Trace.Events))
	waits := func(th trace.ThreadID) (on []trace.ThreadID) {
		w := x.waiter(th)
		if w == nil || w.Ready || ops.Does(w.Op) != ops.Acquire && ops.Does(w.Op) != ops.AcquireShared {
			return nil
		}
		for _, h := range held {
			if h.Lock == w.Object && h.Thread != th {
				on = append(on, h.Thread)
			}
		}
		if holder := x.unlocks(w); holder >= 0 && holder != th && !slices.Contains(on, holder) {
			on = append(on, holder)
			handed = handed || holder != w.Holder
		}
		return on
	}
	var path, found []trace.ThreadID
	visited := map[trace.ThreadID]bool{}
	var follow func(th trace.ThreadID) bool
	follow = func(th trace.ThreadID) bool {
		if i := slices.Index(path, th); i >= 0 {
			found = slices.Clone(path[i:])
			return true
		}
		if visited[th] {
			return false
		}
		visited[th] = true
		path = append(path, th)
		if slices.ContainsFunc(waits(th), follow) {
			return true
		}
		path = path[:len(path)-1]
		return false
	}
	for i := range x.Trace.Ending.Waiters {
		if follow(x.Trace.Ending.Waiters[i].Thread) {
			slices.Sort(found)
			return found, handed
		}
	}
	return nil, false
}

// unlocks returns the thread that is to unlock what another waits for, -1 if that is not known: the holder, or the goroutine that does so
// in the execution which does not fail. Any goroutine may unlock a mutex of package sync.
func (x *Execution) unlocks(w *trace.Waiter) trace.ThreadID {
	if w.Holder < 0 || x.Trace.Header.Target != "go" || x.Passing == nil {
		return w.Holder
	}
	// locked returns the events by which the holder came to have the lock.
	locked := func(t *trace.Trace) (at []int) {
		for i := range t.Events {
			if t.Events[i].Thread == w.Holder && ops.AcquiresAt(t, i) == w.Object {
				if got := ops.ObtainedAt(t, i); got >= 0 {
					at = append(at, got)
				}
			}
		}
		return at
	}
	n, at := len(locked(x.Trace)), locked(x.Passing)
	if n == 0 || n > len(at) {
		return w.Holder
	}
	for i := at[n-1]; i < len(x.Passing.Events); i++ {
		if ops.ReleasesAt(x.Passing, i) == w.Object {
			return x.Passing.Events[i].Thread
		}
	}
	return w.Holder
}
