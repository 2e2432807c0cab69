package pattern

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// LockCycle is a deadlock of threads that acquire locks in different orders.
const LockCycle = "lock cycle"

var lockCycle = &Pattern{
	Name:  LockCycle,
	Shows: "threads wait in a circle, each for a lock that another of them holds, or in Go is to unlock; or one waits to read under a lock, which it does already, behind another that waits to write",
	find: func(x *Execution) *Match {
		if m := x.readAgain(); m != nil {
			return m
		}
		circle, handed := x.lockCycle()
		if len(circle) < 2 || !x.dependsOnLocks(circle) {
			return nil
		}
		if m := x.embrace(circle); m != nil && !handed {
			return m
		}
		m := &Match{Section: []int{}, Say: func(w Words) string {
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

// embrace returns the match of two threads in a circle, which tells what each waits for and holds; nil if that is not known.
func (x *Execution) embrace(circle []trace.ThreadID) *Match {
	if len(circle) != 2 {
		return nil
	}
	var since []int
	for i, th := range circle {
		at, _ := x.holds(th, x.Waiter(circle[1-i]).Object, len(x.Trace.Events))
		if at < 0 {
			return nil
		}
		since = append(since, at)
	}
	more := slices.Clone(since)
	if !x.listsWaiters() {
		more = append(more, x.last(circle[0]), x.last(circle[1])) // what they wait for, which the ending does not tell
	}
	return alone(func(w Words) string {
		var each []string
		for i, th := range circle {
			s := fmt.Sprintf("%s and holds %s", w.Wait(th), w.Object(since[i]))
			if place := w.Place(since[i]); place != "" && !w.Brief() {
				s += " since " + place
			}
			each = append(each, s)
		}
		return strings.Join(each, ", ")
	}, more...).unguarded()
}

// dependsOnLocks reports whether a failure depends on how threads that wait in a circle acquired their locks. A deadlock of all threads does. Other
// executions may fail for another reason while some threads wait so.
func (x *Execution) dependsOnLocks(circle []trace.ThreadID) bool {
	if x.Trace.Ending.Kind == trace.Deadlock {
		return true
	}
	if x.Order == nil {
		return x.Trace.Ending.Kind == trace.Leak
	}
	var locks []trace.Object
	for _, th := range circle {
		locks = append(locks, x.Waiter(th).Object)
	}
	acquires := func(e int) bool {
		return slices.Contains(circle, x.event(e).Thread) && slices.Contains(locks, ops.AcquiresAt(x.Trace, e))
	}
	return slices.ContainsFunc([]*Order{x.Order, x.Rest}, func(o *Order) bool {
		return o != nil && (acquires(o.First) || o.Second >= 0 && (acquires(o.Second) || o.Waiting && slices.Contains(circle, x.event(o.Second).Thread)))
	})
}

// readAgain returns the match of a thread that has a lock for reading and waits to lock it so once more behind one that waits to write; nil for none.
func (x *Execution) readAgain() *Match {
	for i := range x.Trace.Ending.Waiters {
		w := &x.Trace.Ending.Waiters[i]
		if w.MayGoOn() || w.Object == 0 || ops.Does(w.Op) != ops.AcquireShared {
			continue
		}
		since, shared := x.holds(w.Thread, w.Object, len(x.Trace.Events))
		if since < 0 || !shared || !x.dependsOnLocks([]trace.ThreadID{w.Thread}) || x.Trace.Header.Target == "go" && since == x.last(w.Thread) { // of Go, the lock that a thread waits for is an event, too
			continue
		}
		writer := slices.IndexFunc(x.Trace.Ending.Waiters, func(o trace.Waiter) bool {
			return o.Thread != w.Thread && o.Object == w.Object && !o.MayGoOn() && ops.Does(o.Op) == ops.Acquire
		})
		if writer < 0 {
			continue
		}
		other := x.Trace.Ending.Waiters[writer].Thread
		fact := func(words Words) string {
			_, where, _ := strings.Cut(words.Wait(other), " for "+words.Object(since))
			return fmt.Sprintf("%s behind T%d, which waits to write%s, and has locked it for reading%s", words.Wait(w.Thread), other, where, at(words, since))
		}
		return alone(fact, since).unguarded()
	}
	return nil
}

// lockCycle returns threads each of which waits for a lock that the next one holds, and the last one for one that the first
// holds; nil for none. A lock that several threads hold for reading is followed to each of them. handed says that a goroutine has locked
// one of the locks and another of them is to unlock it.
func (x *Execution) lockCycle() (circle []trace.ThreadID, handed bool) {
	var held []ops.HeldLock
	if x.Trace.Header.Target != "go" { // there, a lock that a goroutine only waits for is an event, too
		held = ops.LocksAt(x.Trace, len(x.Trace.Events))
	}
	waits := func(th trace.ThreadID) (on []trace.ThreadID) {
		w := x.Waiter(th)
		if w == nil || !waitsForLock(w) || ops.Of(w.Op).Deadline {
			return nil
		}
		for _, h := range held {
			if h.Lock == w.Object && h.Thread != th {
				on = append(on, h.Thread)
			}
		}
		if w.Holder < 0 && x.Trace.Header.Target == "go" {
			on = slices.DeleteFunc(x.readers(w.Object), func(reader trace.ThreadID) bool { return reader == th })
		}
		if own := w.Holder; own >= 0 && own != th && !slices.Contains(on, own) && x.unlocksItself(w) {
			on = append(on, own)
		} else if holder := x.unlocks(w); holder >= 0 && holder != th && !slices.Contains(on, holder) {
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
	for th := range x.Trace.Threads {
		if follow(trace.ThreadID(th)) {
			slices.Sort(found)
			return found, handed
		}
	}
	return nil, false
}

// readers returns the goroutines that have a lock for reading when the execution ends; none if one has unlocked it for another.
func (x *Execution) readers(lock trace.Object) (out []trace.ThreadID) {
	for i := range x.Trace.Events {
		ev := x.event(i)
		if ev.Object != lock {
			continue
		}
		switch ops.Does(ev.Op) {
		case ops.AcquireShared:
			if ops.ObtainedAt(x.Trace, i) >= 0 {
				out = append(out, ev.Thread)
			}
		case ops.ReleaseShared:
			own := slices.Index(out, ev.Thread)
			if own < 0 {
				return nil
			}
			out = slices.Delete(out, own, own+1)
		}
	}
	return out
}

// unlocksItself reports whether the holder of what another thread waits for is seen to unlock what it has locked, in the execution that does not
// fail: it then is the thread that is to do so here.
func (x *Execution) unlocksItself(w *trace.Waiter) bool {
	if x.Trace.Header.Target != "go" || x.Passing == nil {
		return false
	}
	locked := false
	for i := range x.Passing.Events {
		if ev := &x.Passing.Events[i]; ev.Thread == w.Holder {
			switch {
			case ops.AcquiresAt(x.Passing, i) == w.Object:
				locked = true
			case ops.ReleasesAt(x.Passing, i) == w.Object:
				return locked
			}
		}
	}
	return false
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
