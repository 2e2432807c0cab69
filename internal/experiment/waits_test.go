package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestWaitReacquires: a goroutine that goes on after its wait on a condition is turned with the critical sections of others, and the
// section that its wait ends does not go on behind it.
func TestWaitReacquires(t *testing.T) {
	const lock, cond = trace.Object(64), trace.Object(128)
	decision := func(th trace.ThreadID, op trace.Op, on trace.Object, value uint64) trace.Event {
		return trace.Event{Thread: th, Op: op, Object: on, Site: trace.Site(op), Value: value}
	}
	part := func(th trace.ThreadID, op trace.Op, of trace.Site) trace.Event {
		return trace.Event{Thread: th, Op: op, Object: lock, Site: of, Flags: trace.FlagNoDecision}
	}
	base := &trace.Trace{Events: []trace.Event{
		decision(1, trace.OpGmutexLock, lock, 0),
		decision(1, trace.OpGcondWait, cond, 0),
		part(1, trace.OpRelease, trace.Site(trace.OpGcondWait)),
		decision(0, trace.OpGcondBroadcast, cond, 0),
		decision(2, trace.OpGmutexLock, lock, 0),
		decision(2, trace.OpGmutexUnlock, lock, 0),
		decision(1, trace.OpResume, cond, uint64(trace.OpGcondWait)),
		part(1, trace.OpAcquire, trace.Site(trace.OpResume)),
		decision(1, trace.OpGmutexUnlock, lock, 0),
	}}
	pairs, _ := Dependent(base)
	if !slices.Contains(pairs, [2]int{4, 6}) {
		t.Errorf("%v, want a pair of T2's acquisition and T1's return from its wait", pairs)
	}
	if got := section(base, 0, len(base.Events)); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("the section that a wait ends has the events %v", got)
	}
	if got := section(base, 6, len(base.Events)); !slices.Equal(got, []int{6, 7, 8}) {
		t.Errorf("the section after the wait has the events %v", got)
	}
}
