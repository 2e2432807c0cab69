package pattern

import (
	"fmt"
	"slices"
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
		lock := ops.AcquiresAt(x.Trace, o.First)
		own := x.kept(x.event(o.First).Thread, lock)
		if own == nil || own.since != o.First && own.since != ops.ObtainedAt(x.Trace, o.First) {
			return nil
		}
		second := x.Waiter(x.event(o.Second).Thread)
		if second == nil || !waitsForLock(second) || second.Object != lock || !o.Waiting && ops.AcquiresAt(x.Trace, o.Second) != lock {
			return nil
		}
		chain := x.chain(own)
		if chain == nil {
			return nil
		}
		var since []int
		for _, k := range chain {
			since = append(since, k.since)
		}
		return alone(func(w Words) string {
			s := w.Wait(chain[0].holder)
			for i, k := range chain {
				if i > 0 {
					s += fmt.Sprintf(", and T%d", k.holder)
				} else {
					s += " and"
				}
				if w.Brief() && len(chain) > 1 {
					s += " holds " + w.Object(k.since) + ", for which " + allWait(w, k.behind)
				} else {
					s += " holds " + k.behindIt(w)
				}
			}
			return s
		}, since...).unguarded()
	},
}

// kept is a lock that a thread holds when the execution ends, since an event, and the threads that wait for it.
type kept struct {
	holder trace.ThreadID
	lock   trace.Object
	since  int
	behind []trace.ThreadID
}

// kept returns a lock that a thread holds when the execution ends, nil if it does not or no thread waits for it.
func (x *Execution) kept(th trace.ThreadID, lock trace.Object) *kept {
	if lock == 0 {
		return nil
	}
	k := &kept{holder: th, lock: lock}
	if k.since, _ = x.holds(th, lock, len(x.Trace.Events)); k.since < 0 || ops.ObtainedAt(x.Trace, k.since) < 0 {
		return nil
	}
	for i := range x.Trace.Ending.Waiters {
		if w := &x.Trace.Ending.Waiters[i]; waitsForLock(w) && w.Object == lock && w.Thread != th {
			k.behind = append(k.behind, w.Thread)
		}
	}
	if len(k.behind) == 0 {
		return nil
	}
	return k
}

// mostKept is how many locks a chain has at most.
const mostKept = 4

// chain returns locks of which the holder of each but the first waits for the one before. The holder of the first waits for something else; nil if none
// does.
func (x *Execution) chain(own *kept) (out []*kept) {
	for k := own; k != nil && len(out) < mostKept; {
		out = slices.Insert(out, 0, k)
		if x.waitsForOther(k.holder) {
			break
		}
		w := x.Waiter(k.holder)
		if w == nil || !waitsForLock(w) || w.Holder < 0 {
			return nil
		}
		k = x.kept(w.Holder, w.Object)
	}
	if !x.waitsForOther(out[0].holder) {
		return nil
	}
	for len(out) < mostKept {
		next := x.heldBehind(out)
		if next == nil {
			break
		}
		out = append(out, next)
	}
	return out
}

// heldBehind returns a lock that a thread behind the last of a chain holds, nil for none.
func (x *Execution) heldBehind(chain []*kept) *kept {
	for _, th := range chain[len(chain)-1].behind {
		if slices.ContainsFunc(chain, func(k *kept) bool { return k.holder == th }) {
			continue
		}
		for _, lock := range x.locks(th, len(x.Trace.Events)) {
			if k := x.kept(th, lock); k != nil {
				return k
			}
		}
	}
	return nil
}

// behindIt names the lock, since when it is held, and the threads that wait for it.
func (k *kept) behindIt(w Words) string {
	held, others := w.Object(k.since), allWait(w, k.behind)
	if len(k.behind) == 1 {
		_, where, _ := strings.Cut(w.Wait(k.behind[0]), " for "+held)
		others = fmt.Sprintf("T%d waits%s", k.behind[0], where)
	}
	since := ""
	if p := w.Place(k.since); p != "" {
		since = " since " + p
	}
	return fmt.Sprintf("%s%s, for which %s", held, since, others)
}

// waitsForOther reports whether a thread waits for something other than a lock when the execution ends.
func (x *Execution) waitsForOther(th trace.ThreadID) bool {
	w := x.Waiter(th)
	return w != nil && !w.MayGoOn() && w.Op != trace.OpNone && !waitsForLock(w)
}

func waitsForLock(w *trace.Waiter) bool {
	does := ops.Does(w.Op)
	return !w.MayGoOn() && (does == ops.Acquire || does == ops.AcquireShared)
}
