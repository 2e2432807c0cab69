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

// TestClosedBeforeSelect: a close is turned with a select that follows, although its thread has used another channel since.
func TestClosedBeforeSelect(t *testing.T) {
	pairs := Selects(&trace.Trace{Events: []trace.Event{
		{Thread: 0, Op: trace.OpChanClose, Object: 64, Site: 1},
		{Thread: 0, Op: trace.OpChanRecv, Object: 128, Site: 2},
		{Thread: 1, Op: trace.OpSelect, Site: 3},
	}})
	if !slices.Contains(pairs, [2]int{0, 2}) || !slices.Contains(pairs, [2]int{1, 2}) {
		t.Errorf("%v, want both operations before the select", pairs)
	}
}

// TestCloser: an event comes directly behind the critical section that another one begins, and what that one's thread does next comes later.
func TestCloser(t *testing.T) {
	const lock = trace.Object(64)
	base := &trace.Trace{Header: trace.Header{Target: "c"}}
	for i, ev := range []trace.Event{
		{Thread: 1, Op: trace.OpMutexLock, Object: lock},
		{Thread: 1, Op: trace.OpMutexUnlock, Object: lock},
		{Thread: 1, Op: trace.OpYield},
		{Thread: 2, Op: trace.OpYield},
		{Thread: 2, Op: trace.OpMutexLock, Object: lock},
		{Thread: 2, Op: trace.OpMutexUnlock, Object: lock},
		{Thread: 1, Op: trace.OpYield},
	} {
		ev.Site = trace.Site(i + 1)
		base.Events = append(base.Events, ev)
	}
	var got []trace.Site
	for _, s := range (&Experiment{Base: base}).Closer(0, 4) {
		got = append(got, s.Site)
	}
	if want := []trace.Site{1, 2, 4, 5, 6, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
