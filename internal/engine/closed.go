package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// closed reports whether an execution that did not end has a cycle of threads that wait for one another, beside one that
// never ends: that is a deadlock, with which f's execution then ends. Go's runtime looks for other deadlocks on its own.
func (s *search) closed(ctx context.Context, f *failure) (bool, error) {
	waiters := f.outcome.Ending.Waiters
	if !cyclic(waiters) && !(s.target.Header().Target == "go" && sharesLocks(waiters)) {
		return false, nil
	}
	p := f.plan
	p.Repeat, p.Record, p.Cycles = 1, true, true
	o, err := judged(s.target, verdict{expect: s.expect, outputs: s.outputs, where: s.caller})(ctx, p)
	if err != nil || !o.Ending.BesideOthers() {
		if overdue(ctx, err) {
			err = nil
		}
		return false, err
	}
	f.plan, f.outcome = p, o
	return true, nil
}

// sharesLocks reports whether two goroutines at least wait for locks, one of them for a lock that can be held for reading: who does is unknown.
func sharesLocks(waiters []trace.Waiter) bool {
	n, shared := 0, false
	for i := range waiters {
		if of := ops.Of(waiters[i].Op).Of; !waiters[i].Ready && (of == ops.Mutex || of == ops.RWLock) {
			n++
			shared = shared || of == ops.RWLock
		}
	}
	return n > 1 && shared
}

// cyclic reports whether some of these threads wait for what the next of them holds, and the last for what the first holds.
func cyclic(threads []trace.Waiter) bool {
	blocked := slices.DeleteFunc(slices.Clone(threads), func(w trace.Waiter) bool { return w.Ready })
	return len(trace.CycleOf(blocked)) > 0
}
