package partners

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

const (
	ch   trace.Object = 0x1000
	quit trace.Object = 0x2000
)

// left returns the recording of an execution of four goroutines that leaves w's, and in which those of ended ended.
func left(w trace.Waiter, ended []trace.ThreadID, events ...trace.Event) *trace.Trace {
	t := &trace.Trace{Threads: make([]trace.Thread, 4), Events: events}
	for _, th := range ended {
		t.Threads[th].Ended = true
		t.Events = append(t.Events, trace.Event{Thread: th, Op: trace.OpThreadEnd})
	}
	t.Ending = trace.Ending{Kind: trace.Leak, Waiters: []trace.Waiter{w}}
	return t
}

func name(th trace.ThreadID) string { return fmt.Sprintf("T%d", th) }

func texts(t *trace.Trace) (out []string) {
	w := &t.Ending.Waiters[0]
	uses := Of(t, w)
	for i := range uses {
		out = append(out, uses[i].Text(name))
	}
	return append(out, Reached(t, w, uses))
}

func check(t *testing.T, tr *trace.Trace, want ...string) {
	t.Helper()
	if got := texts(tr); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

const nothing = "nothing else can reach it: no goroutine, timer or global variable"

func TestChannels(t *testing.T) {
	at := func(th trace.ThreadID, op trace.Op) trace.Event { return trace.Event{Thread: th, Op: op, Object: ch} }
	receives := trace.Waiter{Thread: 1, Op: trace.OpChanRecv, Object: ch, Reach: trace.ReachLost}
	tr := left(receives, []trace.ThreadID{2}, at(2, trace.OpChanSend), at(2, trace.OpChanSend), at(1, trace.OpChanRecv))
	check(t, tr, "used by T2, which ended after 2 sends without closing it", nothing)

	// One that is left in its own send has not sent.
	tr.Ending.Waiters = append(tr.Ending.Waiters, trace.Waiter{Thread: 3, Op: trace.OpChanSend, Object: ch, Reach: trace.ReachLost})
	tr.Events = append(tr.Events, at(3, trace.OpChanSend))
	check(t, tr, "used by T2, which ended after 2 sends without closing it", "no running goroutine, timer or global variable can reach it")
	// If goroutines ran on unrecorded, only what ended before is counted.
	tr.Ending.Waiters[1] = trace.Waiter{Thread: 3, Op: trace.OpGsleep, Ready: true, Reach: trace.ReachKept}
	check(t, tr, "used by T2, which ended after 2 sends without closing it; and T3, which is also left", nothing)

	// An attempt that took the default of its select is none.
	tr = left(receives, nil, trace.Event{Thread: 2, Op: trace.OpChanSend, Object: ch, Result: -11})
	check(t, tr, "no other goroutine used it", nothing)
	tr.Ending.Waiters[0].Reach = trace.ReachUnknown
	check(t, tr, "", "")
	tr.Ending.Waiters[0].Reach = trace.ReachKept
	check(t, tr, "", "a global variable, a timer or a running goroutine can still reach it")
	// What is not left has no partners.
	tr.Ending.Kind = trace.Deadlock
	check(t, tr, "")
}

func TestSelect(t *testing.T) {
	waits := trace.Waiter{Thread: 1, Op: trace.OpSelect, Reach: trace.ReachLost}
	tr := left(waits, nil, trace.Event{Thread: 0, Op: trace.OpChanRecv, Object: ch})
	tr.Ending.Cases = []trace.Case{
		{Thread: 1, Op: trace.OpChanSend, Object: ch},
		{Thread: 1, Op: trace.OpChanRecv, Object: quit},
		{Thread: 0, Op: trace.OpChanRecv, Object: ch, Taken: 2},
		{Thread: 1, Op: trace.OpChanSend, Object: ch, Taken: 3},
	}
	these := "nothing else can reach these: no goroutine, timer or global variable"
	check(t, tr, "used by T0, which ended after 3 receives", "no other goroutine used it", these)
	// Nothing is counted if selects took more than is known.
	tr.Ending.Cases = append(tr.Ending.Cases, trace.Case{Op: trace.OpSelect})
	check(t, tr, "used by T0, which ended", "", these)
}

func TestLocks(t *testing.T) {
	at := func(th trace.ThreadID, op trace.Op) trace.Event { return trace.Event{Thread: th, Op: op, Object: ch} }
	waits := trace.Waiter{Thread: 1, Op: trace.OpGmutexLock, Object: ch, Reach: trace.ReachHeld}
	check(t, left(waits, []trace.ThreadID{2}, at(2, trace.OpGmutexLock), at(1, trace.OpGmutexLock)),
		"locked by T2, which ended without unlocking it", "")
	// One goroutine unlocks what another has locked.
	check(t, left(waits, []trace.ThreadID{2, 3}, at(2, trace.OpGmutexLock), at(3, trace.OpGmutexUnlock), at(1, trace.OpGmutexLock)), "", "")
	// The one that waits for a condition has unlocked its mutex.
	tr := left(waits, nil, at(2, trace.OpGmutexLock), trace.Event{Thread: 2, Op: trace.OpGcondWait, Object: quit})
	tr.Ending.Waiters = append(tr.Ending.Waiters, trace.Waiter{Thread: 2, Op: trace.OpGcondWait, Object: quit})
	check(t, tr, "", "")
	tr.Ending.Waiters[1] = trace.Waiter{Thread: 2, Op: trace.OpChanRecv, Object: quit}
	check(t, tr, "locked by T2, which is also left", "")
}

func TestCounters(t *testing.T) {
	add := func(th trace.ThreadID, n int) trace.Event {
		return trace.Event{Thread: th, Op: trace.OpWgAdd, Object: ch, Value: uint64(n)}
	}
	waits := trace.Waiter{Thread: 1, Op: trace.OpWgWait, Object: ch, Reach: trace.ReachLost}
	check(t, left(waits, []trace.ThreadID{2, 3}, add(0, 3), add(2, -1), add(3, -1)),
		"used by T0, which ended after Add(3); T2, which ended after 1 Done; and T3, which ended after 1 Done", nothing)

	waits = trace.Waiter{Thread: 1, Op: trace.OpGcondWait, Object: ch, Reach: trace.ReachLost}
	check(t, left(waits, nil, trace.Event{Op: trace.OpGcondSignal, Object: ch}), "used by T0, which ended after 1 Signal", nothing)
}
