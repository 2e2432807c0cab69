package hb

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// TestOrderIsTheClosure compares every pair of events of random executions with the
// transitive closure of the defining edges.
func TestOrderIsTheClosure(t *testing.T) {
	ops := map[trace.Op]bool{}
	pairs, ordered := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		events := execution(t)
		want, got := oracle(events), Of(events)
		for j := range events {
			ops[events[j].Op] = true
			for i := range events {
				if i == j {
					continue
				}
				if got.Before(i, j) != want[i][j] {
					t.Fatalf("event %d before event %d: %v, want %v\n%s", i, j, got.Before(i, j), want[i][j], show(events))
				}
				if got.Concurrent(i, j) != (!want[i][j] && !want[j][i]) {
					t.Fatalf("events %d and %d concurrent: %v\n%s", i, j, got.Concurrent(i, j), show(events))
				}
				if events[i].Thread != events[j].Thread {
					pairs++
					if want[i][j] {
						ordered++
					}
				}
			}
		}
	})
	if len(ops) < 63 || pairs == 0 || ordered*100 < pairs || ordered*2 > pairs {
		t.Errorf("the executions are too plain: %d operations seen, %d of %d pairs of different threads ordered", len(ops), ordered, pairs)
	}
}

// TestEngineAgreesWithOrder compares Engine's answers during the execution with Order's afterwards.
func TestEngineAgreesWithOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := execution(t)
		order, engine := Of(events), New()
		var epochs []Epoch
		for j := range events {
			engine.Event(&events[j])
			epochs = append(epochs, engine.Epoch(events[j].Thread))
			for i := range j {
				if got := engine.Before(epochs[i], events[j].Thread); got != order.Before(i, j) {
					t.Fatalf("event %d before event %d: engine %v, order %v\n%s", i, j, got, order.Before(i, j), show(events))
				}
			}
		}
	})
}

// TestForAccessesIsExactAboutThem compares the answers of ForAccesses for every pair of accesses
// with the closure.
func TestForAccessesIsExactAboutThem(t *testing.T) {
	ordered, concurrent, reused := 0, 0, 0
	check := func(t *rapid.T) {
		events := execution(t)
		want, engine := oracle(events), ForAccesses()
		epochs := map[int]Epoch{}
		threads := map[Chain]map[trace.ThreadID]bool{}
		for j := range events {
			engine.Event(&events[j])
			if !access(events[j].Op) {
				continue
			}
			epochs[j] = engine.Epoch(events[j].Thread)
			c := threads[epochs[j].Chain()]
			if c == nil {
				c = map[trace.ThreadID]bool{}
				threads[epochs[j].Chain()] = c
			}
			if c[events[j].Thread] = true; len(c) > 1 {
				reused++
			}
			for i := range j {
				at, ok := epochs[i]
				if !ok {
					continue
				}
				if got := engine.Before(at, events[j].Thread); got != want[i][j] {
					t.Fatalf("event %d before event %d: %v, want %v\n%s", i, j, got, want[i][j], show(events))
				}
				if want[i][j] {
					ordered++
				} else {
					concurrent++
				}
			}
		}
	}
	for tries := 0; tries < 50 && (ordered == 0 || concurrent == 0 || reused == 0); tries++ {
		rapid.Check(t, check)
	}
	if ordered == 0 || concurrent == 0 || reused == 0 {
		t.Errorf("%d pairs ordered, %d concurrent, %d accesses in the chain of another thread", ordered, concurrent, reused)
	}
}

// TestKnownIsBeforeAllToCome checks that an event in Known is never concurrent with a
// later one.
func TestKnownIsBeforeAllToCome(t *testing.T) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		events := execution(t)
		order, engine := Of(events), New()
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		var epochs []Epoch
		for i := range cut {
			engine.Event(&events[i])
			epochs = append(epochs, engine.Epoch(events[i].Thread))
		}
		k := engine.Known()
		for i, at := range epochs {
			if !k.Covers(at) {
				continue
			}
			for j := cut; j < len(events); j++ {
				known++
				if !order.Before(i, j) {
					t.Fatalf("after %d events, event %d was known to all, but not before event %d\n%s", cut, i, j, show(events))
				}
			}
		}
	})
	if known == 0 {
		t.Error("nothing was ever known to all")
	}
}

// TestKnownForgetsTheDead: an event that an ended thread never knew can still be known to all live
// threads.
func TestKnownForgetsTheDead(t *testing.T) {
	engine := New()
	for _, e := range []trace.Event{
		ev(0, trace.OpThreadCreate, 0, value(1)), ev(1, trace.OpThreadStart, 0), ev(0, trace.OpWrite, 1),
	} {
		engine.Event(&e)
	}
	if at := engine.Epoch(0); engine.Known().Covers(at) {
		t.Error("thread 1 lives and does not know of the write")
	} else if e := ev(1, trace.OpThreadEnd, 0); true {
		if engine.Event(&e); !engine.Known().Covers(at) {
			t.Error("thread 1 has ended: only main lives and knows of its own write")
		}
	}
	engine = New()
	engine.Announce(1)
	e := ev(0, trace.OpWrite, 1)
	if engine.Event(&e); engine.Known().Covers(engine.Epoch(0)) {
		t.Error("thread 1 was announced and does not know of the write")
	}
}

// ev is an event in a hand-written execution.
func bytes(n uint32) func(*trace.Event) { return func(e *trace.Event) { e.Size = n } }

func ev(thread trace.ThreadID, op trace.Op, object trace.Object, change ...func(*trace.Event)) trace.Event {
	e := trace.Event{Thread: thread, Op: op, Object: object}
	for _, c := range change {
		c(&e)
	}
	return e
}

// TestEdges covers cases that random executions rarely reach. The test asks about the first and
// last events of each execution.
func TestEdges(t *testing.T) {
	const m, c, x, f = 1, 2, 3, 4
	create := ev(0, trace.OpThreadCreate, 0, value(1))
	const pipe, other, file = trace.Object(1<<44 | 1<<40 | 3<<28 | 7), trace.Object(1<<44 | 2<<40 | 5<<28 | 7), trace.Object(1<<44 | 6<<40 | 4<<28 | 1)
	tests := []struct {
		name   string
		events []trace.Event
		before bool
	}{
		{"what is read was written before", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, pipe, value(1)),
			ev(1, trace.OpFdRead, pipe, value(1)), ev(1, trace.OpRead, x)}, true},
		{"another pipe", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, pipe, value(1)),
			ev(1, trace.OpFdRead, other, value(1)), ev(1, trace.OpRead, x)}, false},
		{"a read that found nothing", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, pipe, value(1)),
			ev(1, trace.OpFdRead, pipe, result(11)), ev(1, trace.OpRead, x)}, false},
		{"a write that failed", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, pipe, result(32)),
			ev(1, trace.OpFdRead, pipe, value(1)), ev(1, trace.OpRead, x)}, false},
		{"the end comes after the close", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdClose, pipe),
			ev(1, trace.OpFdRead, pipe), ev(1, trace.OpRead, x)}, true},
		{"the end comes after the shutdown", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdShutdown, other, value(1)),
			ev(1, trace.OpFdRead, other), ev(1, trace.OpRead, x)}, true},
		{"an accept comes after its connect", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdConnect, other, result(115)),
			ev(1, trace.OpFdAccept, other, value(9)), ev(1, trace.OpRead, x)}, true},
		{"a refused connect", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdConnect, other, result(111)),
			ev(1, trace.OpFdAccept, other, value(9)), ev(1, trace.OpRead, x)}, false},
		{"a poll comes after what it found", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, pipe, value(1)),
			ev(1, trace.OpFdPoll, other, value(1)), ev(1, trace.OpRead, x)}, true},
		{"a poll that found nothing", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, pipe, value(1)),
			ev(1, trace.OpFdPoll, pipe), ev(1, trace.OpRead, x)}, false},
		{"a file orders nothing", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpFdWrite, file, value(1)),
			ev(1, trace.OpFdRead, file, value(1)), ev(1, trace.OpRead, x)}, false},
		{"relaxed store and load", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, f, order(orderRelaxed)),
			ev(1, trace.OpAtomicLoad, f, order(orderAcquire)), ev(1, trace.OpRead, x)}, false},
		{"release store, relaxed rmw, acquire load", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, f, order(orderRelease)),
			ev(2, trace.OpAtomicRmw, f, order(orderRelaxed)),
			ev(1, trace.OpAtomicLoad, f, order(orderAcquire)), ev(1, trace.OpRead, x)}, true},
		{"release store, another's relaxed store, acquire load", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, f, order(orderRelease)),
			ev(2, trace.OpAtomicStore, f, order(orderRelaxed)),
			ev(1, trace.OpAtomicLoad, f, order(orderAcquire)), ev(1, trace.OpRead, x)}, false},
		{"lost compare-and-swap does not release", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicCas, f, order(orderSeqCst), result(0)),
			ev(1, trace.OpAtomicLoad, f, order(orderAcquire)), ev(1, trace.OpRead, x)}, false},
		{"lost compare-and-swap acquires", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, f, order(orderRelease)),
			ev(1, trace.OpAtomicCas, f, order(orderSeqCst), result(0)), ev(1, trace.OpRead, x)}, true},
		{"fences around relaxed accesses", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicFence, 0, order(orderRelease)),
			ev(0, trace.OpAtomicStore, f, order(orderRelaxed)), ev(1, trace.OpAtomicLoad, f, order(orderRelaxed)),
			ev(1, trace.OpAtomicFence, 0, order(orderAcquire)), ev(1, trace.OpRead, x)}, true},
		{"write after the release fence", []trace.Event{
			create, ev(0, trace.OpAtomicFence, 0, order(orderRelease)), ev(0, trace.OpWrite, x),
			ev(0, trace.OpAtomicStore, f, order(orderRelaxed)), ev(1, trace.OpAtomicLoad, f, order(orderAcquire)),
			ev(1, trace.OpRead, x)}, false},
		{"two seq_cst fences alone", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicFence, 0, order(orderSeqCst)),
			ev(1, trace.OpAtomicFence, 0, order(orderSeqCst)), ev(1, trace.OpRead, x)}, false},
		{"a load of a word sees the release of its half", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, 10, order(orderRelease), bytes(2)),
			ev(1, trace.OpAtomicLoad, 8, order(orderAcquire), bytes(4)), ev(1, trace.OpRead, x)}, true},
		{"a load of the other half", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, 10, order(orderRelease), bytes(2)),
			ev(1, trace.OpAtomicLoad, 8, order(orderAcquire), bytes(2)), ev(1, trace.OpRead, x)}, false},
		{"a byte left of a word that was released", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpAtomicStore, 8, order(orderRelease), bytes(8)),
			ev(2, trace.OpAtomicStore, 8, order(orderRelaxed), bytes(4)),
			ev(1, trace.OpAtomicLoad, 15, order(orderAcquire), bytes(1)), ev(1, trace.OpRead, x)}, true},
		{"failed trylock", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpMutexLock, m), ev(0, trace.OpMutexUnlock, m),
			ev(1, trace.OpMutexTrylock, m, result(16)), ev(1, trace.OpRead, x)}, false},
		{"wait that timed out takes its mutex again", []trace.Event{
			create, ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)),
			ev(0, trace.OpMutexLock, m), ev(0, trace.OpWrite, x), ev(0, trace.OpMutexUnlock, m),
			ev(1, trace.OpCondWake, c, aux(m), result(110)), ev(1, trace.OpRead, x)}, true},
		{"wait that timed out did not hear the signal", []trace.Event{
			create, ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)),
			ev(0, trace.OpWrite, x), ev(0, trace.OpCondSignal, c),
			ev(1, trace.OpCondWake, c, aux(m), result(110)), ev(1, trace.OpRead, x)}, false},
		{"signal without the mutex", []trace.Event{
			create, ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)),
			ev(0, trace.OpWrite, x), ev(0, trace.OpCondSignal, c, value(2)),
			ev(1, trace.OpCondWake, c, aux(m)), ev(1, trace.OpRead, x)}, true},
		{"broadcast to a thread whose wait had run out of time", []trace.Event{
			create, ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)), ev(1, trace.OpCondTimeout, c, aux(m)),
			ev(0, trace.OpWrite, x), ev(0, trace.OpCondBroadcast, c),
			ev(1, trace.OpCondWake, c, aux(m)), ev(1, trace.OpRead, x)}, false},
		{"broadcast to a thread that had woken up spuriously", []trace.Event{
			create, ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)), ev(1, trace.OpSpuriousWake, c),
			ev(0, trace.OpWrite, x), ev(0, trace.OpCondBroadcast, c),
			ev(1, trace.OpCondWake, c, aux(m)), ev(1, trace.OpRead, x)}, false},
		{"futex wake after a spurious wake-up", []trace.Event{
			create, ev(1, trace.OpFutexWait, f), ev(1, trace.OpSpuriousWake, f),
			ev(0, trace.OpWrite, x), ev(0, trace.OpFutexWake, f, value(1)),
			ev(1, trace.OpFutexWakeup, f), ev(1, trace.OpRead, x)}, false},
		{"a handler after the signal was sent", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpSignalSend, 0, value(10)),
			ev(1, trace.OpSignalDeliver, 0, value(10)), ev(1, trace.OpRead, x)}, true},
		{"a call that a signal interrupts", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpSignalSend, 0, value(10)),
			ev(1, trace.OpSignalInterrupt, 0, value(10), result(4)), ev(1, trace.OpRead, x)}, true},
		{"a fault was sent by nobody", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpSignalSend, 0, value(10)),
			ev(1, trace.OpSignalDeliver, 0, value(11), func(e *trace.Event) { e.Flags |= trace.FlagNoDecision }), ev(1, trace.OpRead, x)}, false},
		{"what was done before a timer was set", []trace.Event{
			create, ev(0, trace.OpThreadCreate, 0, value(2)), ev(0, trace.OpWrite, x), ev(0, trace.OpTimerSet, 0, aux(3)),
			ev(2, trace.OpTimerExpire, 0, value(14)), ev(1, trace.OpSignalDeliver, 0, value(14)), ev(1, trace.OpRead, x)}, true},
		{"what was done after it", []trace.Event{
			create, ev(0, trace.OpThreadCreate, 0, value(2)), ev(0, trace.OpTimerSet, 0, aux(3)), ev(0, trace.OpWrite, x),
			ev(2, trace.OpTimerExpire, 0, value(14)), ev(1, trace.OpSignalDeliver, 0, value(14)), ev(1, trace.OpRead, x)}, false},
		{"broadcast to a thread already signalled", []trace.Event{
			create, ev(0, trace.OpThreadCreate, 0, value(2)), ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)),
			ev(2, trace.OpCondSignal, c, value(2)), ev(0, trace.OpWrite, x), ev(0, trace.OpCondBroadcast, c),
			ev(1, trace.OpCondWake, c, aux(m)), ev(1, trace.OpRead, x)}, false},
		{"futex wake of another thread", []trace.Event{
			create, ev(0, trace.OpThreadCreate, 0, value(2)), ev(0, trace.OpThreadCreate, 0, value(3)),
			ev(1, trace.OpFutexWait, f), ev(2, trace.OpFutexWait, f), ev(0, trace.OpWrite, x),
			ev(0, trace.OpFutexWake, f, value(1), aux(2)), ev(3, trace.OpFutexWake, f, value(1), aux(3)),
			ev(2, trace.OpFutexWakeup, f), ev(2, trace.OpRead, x)}, false},
		{"owner died with its mutex", []trace.Event{
			create, ev(0, trace.OpMutexLock, m), ev(0, trace.OpWrite, x), ev(0, trace.OpMutexAbandon, m),
			ev(1, trace.OpMutexLock, m, result(ops.OwnerDead)), ev(1, trace.OpRead, x)}, true},
		{"mutex that cannot be recovered is not taken", []trace.Event{
			create, ev(0, trace.OpMutexLock, m), ev(0, trace.OpWrite, x), ev(0, trace.OpMutexUnlock, m),
			ev(1, trace.OpMutexLock, m, result(ops.NotRecoverable)), ev(1, trace.OpRead, x)}, false},
		{"woken, but the mutex cannot be recovered", []trace.Event{
			create, ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)),
			ev(0, trace.OpWrite, x), ev(0, trace.OpCondSignal, c, value(2)),
			ev(1, trace.OpCondWake, c, aux(m), result(ops.NotRecoverable)), ev(1, trace.OpRead, x)}, true},
		{"cancelled in a semaphore", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpCancel, 9, value(1)),
			ev(1, trace.OpSemWait, 5, result(ops.Cancelled)), ev(1, trace.OpRead, x)}, true},
		{"cancelled in a join", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpCancel, 9, value(1)),
			ev(1, trace.OpThreadJoin, 0, value(0), result(ops.Cancelled)), ev(1, trace.OpRead, x)}, true},
		{"cancelled, and does not act on it yet", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpCancel, 9, value(1)),
			ev(1, trace.OpMutexLock, m), ev(1, trace.OpRead, x)}, false},
		{"another is cancelled", []trace.Event{
			create, ev(0, trace.OpThreadCreate, 0, value(2)), ev(0, trace.OpWrite, x), ev(0, trace.OpCancel, 9, value(2)),
			ev(1, trace.OpSemWait, 5, result(ops.Cancelled)), ev(1, trace.OpRead, x)}, false},
		{"another mutex at the old address", []trace.Event{
			create, ev(0, trace.OpWrite, x), ev(0, trace.OpMutexLock, m), ev(0, trace.OpMutexUnlock, m),
			ev(2, trace.OpMutexInit, m), ev(1, trace.OpMutexLock, m), ev(1, trace.OpRead, x)}, false},
		{"readers do not order readers", []trace.Event{
			create, ev(0, trace.OpRwlockRdlock, m), ev(0, trace.OpWrite, x), ev(0, trace.OpRwlockUnlock, m),
			ev(1, trace.OpRwlockRdlock, m), ev(1, trace.OpRead, x)}, false},
		{"creation that failed", []trace.Event{
			ev(0, trace.OpWrite, x), ev(0, trace.OpThreadCreate, 0, value(1), result(11)), ev(1, trace.OpRead, x)}, false},
		{"thread of the next phase arrives before those of the last have left", []trace.Event{
			create, ev(0, trace.OpThreadCreate, 0, value(2)),
			ev(0, trace.OpBarrierWait, c, value(1)), ev(1, trace.OpBarrierWait, c, value(2)),
			ev(2, trace.OpWrite, x), ev(2, trace.OpBarrierWait, c, value(1)),
			ev(0, trace.OpBarrierLeave, c), ev(0, trace.OpRead, x)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from, to := -1, len(test.events)-1
			for i, e := range test.events {
				if e.Op == trace.OpWrite {
					from = i
				}
			}
			if got := Of(test.events).Before(from, to); got != test.before {
				t.Errorf("event %d before event %d: %v, want %v\n%s", from, to, got, test.before, show(test.events))
			}
		})
	}
}

// TestPartialFutexWakeNeverInventsARace: the event does not name every thread it woke, so all
// waiters are ordered after it, and no later thread is.
func TestPartialFutexWakeNeverInventsARace(t *testing.T) {
	const f, x = 1, 2
	events := []trace.Event{
		ev(0, trace.OpThreadCreate, 0, value(1)), ev(0, trace.OpThreadCreate, 0, value(2)), ev(0, trace.OpThreadCreate, 0, value(3)),
		ev(1, trace.OpFutexWait, f), ev(2, trace.OpFutexWait, f),
		ev(0, trace.OpWrite, x), ev(0, trace.OpFutexWake, f, value(1)), // from a trace that does not name the woken thread
		ev(3, trace.OpFutexWait, f), ev(3, trace.OpFutexWakeup, f, result(110)),
		ev(2, trace.OpFutexWakeup, f), ev(1, trace.OpFutexWakeup, f),
	}
	o := Of(events)
	for j, want := range map[int]bool{8: false, 9: true, 10: true} {
		if o.Before(5, j) != want {
			t.Errorf("write before event %d: %v, want %v", j, !want, want)
		}
	}
}

func BenchmarkEngine(b *testing.B) {
	var events []trace.Event
	for i := range trace.ThreadID(8) {
		if i > 0 {
			events = append(events, ev(0, trace.OpThreadCreate, 0, value(uint64(i))))
		}
	}
	for i := range 1 << 16 {
		t := trace.ThreadID(i / 4 % 8)
		op := []trace.Op{trace.OpMutexLock, trace.OpRead, trace.OpWrite, trace.OpMutexUnlock}[i%4]
		events = append(events, ev(t, op, trace.Object(100+i%3)))
	}
	b.ReportAllocs()
	for b.Loop() {
		e := New()
		for i := range events {
			e.Event(&events[i])
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(events))/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// The four events of Go's race detector, one by one.
func TestGoSync(t *testing.T) {
	const x, s = 1, 9
	gos := []trace.Event{ev(0, trace.OpGo, 0, value(1)), ev(0, trace.OpGo, 0, value(2)), ev(1, trace.OpThreadStart, 0), ev(2, trace.OpThreadStart, 0)}
	w1, w2, r := ev(1, trace.OpWrite, x), ev(2, trace.OpWrite, x), ev(0, trace.OpRead, x)
	for _, c := range []struct {
		name          string
		events        []trace.Event // the first write is T1's, the second T2's, the read T0's
		first, second bool          // whether they happened before the read
	}{
		{"release", []trace.Event{w1, ev(1, trace.OpRelease, s), w2, ev(0, trace.OpAcquire, s), r}, true, false},
		{"a release overwrites", []trace.Event{w1, ev(1, trace.OpRelease, s), w2, ev(2, trace.OpRelease, s), ev(0, trace.OpAcquire, s), r}, false, true},
		{"a merge adds", []trace.Event{w1, ev(1, trace.OpRelease, s), w2, ev(2, trace.OpReleaseMerge, s), ev(0, trace.OpAcquire, s), r}, true, true},
		{"release acquire takes", []trace.Event{w1, ev(1, trace.OpRelease, s), w2, ev(2, trace.OpReleaseAcquire, s), ev(0, trace.OpAcquire, s), r}, true, true},
		{"release acquire alone", []trace.Event{w1, w2, ev(2, trace.OpReleaseAcquire, s), ev(0, trace.OpReleaseAcquire, s), r}, false, true},
		{"a merge takes nothing", []trace.Event{w1, ev(1, trace.OpRelease, s), w2, ev(0, trace.OpReleaseMerge, s), r}, false, false},
		{"another object", []trace.Event{w1, ev(1, trace.OpRelease, s), w2, ev(0, trace.OpAcquire, s+1), r}, false, false},
		{"an atomic load takes it", []trace.Event{w1, ev(1, trace.OpReleaseMerge, s), w2, ev(0, trace.OpAtomicLoad, s, order(orderSeqCst)), r}, true, false},
		{"an acquire takes an atomic", []trace.Event{w1, ev(1, trace.OpAtomicRmw, s, order(orderSeqCst)), w2, ev(0, trace.OpAcquire, s), r}, true, false},
		{"a send is nothing", []trace.Event{w1, ev(1, trace.OpChanSend, s), w2, ev(0, trace.OpChanRecv, s), r}, false, false},
	} {
		events := append(append([]trace.Event{}, gos...), c.events...)
		o, n := Of(events), len(events)-1
		for i := range events {
			if e := &events[i]; e.Op == trace.OpWrite {
				want := c.first
				if e.Thread == 2 {
					want = c.second
				}
				if got := o.Before(i, n); got != want {
					t.Errorf("%s: the write of T%d before the read: %t, want %t", c.name, e.Thread, got, want)
				}
			}
		}
	}
}
