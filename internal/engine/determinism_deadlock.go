package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/reversible"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// deadlockExecutions is how many executions look for a deadlock that the model does not show exactly.
const deadlockExecutions = 200

// deadlockAfter executes a reordering, and returns the execution if it ends in a deadlock, else nil.
func deadlockAfter(ctx context.Context, x *experiment.Experiment, order []int) (*trace.Trace, error) {
	if len(order) == 0 {
		return nil, nil
	}
	// Whether a goroutine has to wait differs from the trace, which a strict script does not allow.
	for _, mode := range []schedule.Mode{schedule.Strict, schedule.Tolerant} {
		plan := x.Reordered(order)
		plan.Mode = mode
		r, err := x.Run(ctx, plan)
		if err != nil {
			return nil, err
		}
		if r.Trace != nil && r.Ending.Kind == trace.Deadlock {
			return r.Trace, nil
		}
	}
	return nil, nil
}

// findDeadlock executes the program under other schedules until one ends in a deadlock.
func (d *Determinism) findDeadlock(ctx context.Context, plan schedule.Plan, t target.Target, opts DeterminismOptions) error {
	see := func(p schedule.Plan) schedule.Plan { return p }
	on := func(int) target.Target { return t }
	return d.refute(ctx, plan, see, opts.Seed, deadlockExecutions, on, func(_ int, other *trace.Trace) (bool, error) {
		return other.Ending.Kind == trace.Deadlock, nil
	})
}

// deadlockWaits returns what the threads wait for at the end of an execution that ended in a deadlock: those of a cycle, if there
// is one, or else all.
func deadlockWaits(t *trace.Trace) []DeadlockWait {
	held := heldAtEnd(t)
	wanted := map[trace.Object]bool{}
	for _, w := range t.Ending.Waiters {
		wanted[w.Object] = true
	}
	var out []DeadlockWait
	for _, w := range t.Ending.Waiters {
		if len(t.Ending.Cycle) > 0 && !slices.Contains(t.Ending.Cycle, w.Thread) {
			continue
		}
		x := DeadlockWait{Thread: w.Thread, Op: w.Op, Object: w.Object, Site: w.Site, Holder: w.Thread}
		if w.Op == trace.OpThreadJoin {
			x.Object = 0
		}
		for _, e := range held[w.Thread] { // the last one that another thread waits for
			ev := &t.Events[e]
			if at := lockOf(ev); x.Held == 0 || wanted[at] || !wanted[x.Held] {
				x.Held, x.HeldAt = at, ev.Site
			}
		}
		out = append(out, x)
	}
	return out
}

// lockOf returns the lock that an event acquires.
func lockOf(ev *trace.Event) trace.Object {
	if ops.Does(ev.Op) == ops.Resume {
		return trace.Object(ev.Aux)
	}
	return ev.Object
}

// heldAtEnd returns the events that acquired the locks that each thread holds at the end.
func heldAtEnd(t *trace.Trace) map[trace.ThreadID][]int {
	held, last := map[trace.ThreadID][]int{}, map[trace.ThreadID]int{}
	release := func(th trace.ThreadID, at trace.Object) {
		list := held[th]
		for i, e := range slices.Backward(list) {
			if lockOf(&t.Events[e]) == at {
				held[th] = slices.Delete(list, i, i+1)
				return
			}
		}
	}
	for i := range t.Events {
		ev := &t.Events[i]
		last[ev.Thread] = i
		spec := ops.Of(ev.Op)
		switch spec.Does {
		case ops.Acquire, ops.AcquireShared, ops.Resume:
			if spec.Of != ops.Futex && spec.Of != ops.SyncVar && spec.Done(ev) {
				held[ev.Thread] = append(held[ev.Thread], i)
			}
		case ops.Release, ops.ReleaseShared:
			release(ev.Thread, ev.Object)
		case ops.Wait:
			if spec.Of == ops.Condition {
				release(ev.Thread, trace.Object(ev.Aux))
			}
		}
	}
	if t.Header.Target == "go" { // an operation's event comes before the operation
		for th, list := range held {
			if n := len(list); n > 0 && list[n-1] == last[th] {
				held[th] = list[:n-1]
			}
		}
	}
	return held
}

// possibleWaits returns the waits of a deadlock that no execution has shown.
func possibleWaits(golden *trace.Trace, d *reversible.Deadlock) []DeadlockWait {
	var out []DeadlockWait
	for _, w := range d.Waits {
		ev := operationOf(golden, w.Event)
		x := DeadlockWait{Thread: ev.Thread, Op: ev.Op, Object: ev.Object, Site: ev.Site, Holder: ev.Thread}
		if w.Holds >= 0 {
			h := operationOf(golden, w.Holds)
			x.Holder, x.Held, x.HeldAt = h.Thread, lockOf(h), h.Site
		}
		out = append(out, x)
	}
	return out
}

// operationOf returns an event, or the operation that a goroutine waits in before it resumes at the event.
func operationOf(t *trace.Trace, e int) *trace.Event {
	th := t.Events[e].Thread
	for i := e; i > 0 && t.Events[e].Op == trace.OpResume; i-- {
		if ev := &t.Events[i]; ev.Thread == th && ev.Op != trace.OpResume && ev.Flags&trace.FlagNoDecision == 0 {
			return ev
		}
	}
	return &t.Events[e]
}
