package ops

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// TestEveryOperationHasARow fails for an operation that is new in the C header.
func TestEveryOperationHasARow(t *testing.T) {
	rows := map[trace.Op]int{}
	for i := range table {
		rows[table[i].Op]++
	}
	for n, name := range abi.OpNames {
		switch op := trace.Op(n); {
		case name != "" && rows[op] != 1:
			t.Errorf("%q (%d) has %d rows in the table", name, n, rows[op])
		case name == "" && rows[op] != 0 && op != trace.OpNone:
			t.Errorf("the table has operation %d, which does not exist", n)
		case name != "" && (Of(op).Op != op || Does(op) != Of(op).Does):
			t.Errorf("%q: its row is %+v", name, Of(op))
		}
	}
	for _, op := range []trace.Op{abi.OpCount, 60000} {
		if Does(op) != Opaque || Of(op).Does != Opaque {
			t.Errorf("operation %d is not opaque", op)
		}
	}
}

// TestRowsAgreeWithClasses compares the table with the coarser classes of the C header.
func TestRowsAgreeWithClasses(t *testing.T) {
	classes := map[Action][]trace.Class{
		Read: {trace.ClassRead}, Write: {trace.ClassWrite}, AtomicRead: {trace.ClassALoad}, AtomicWrite: {trace.ClassAStore},
		Exchange: {trace.ClassARMW}, Compare: {trace.ClassARMW}, Free: {trace.ClassWrite},
		Create: {trace.ClassFork}, Join: {trace.ClassJoin}, Finish: {trace.ClassEnd},
		Acquire: {trace.ClassAcq}, AcquireShared: {trace.ClassAcq}, Begin: {trace.ClassAcq, trace.ClassSync}, Observe: {trace.ClassAcq},
		Release: {trace.ClassRel}, ReleaseShared: {trace.ClassRel}, Abandon: {trace.ClassRel}, Publish: {trace.ClassRel}, Merge: {trace.ClassRel},
		Wait: {trace.ClassRel, trace.ClassSync, trace.ClassWait}, Resume: {trace.ClassWait}, Depart: {trace.ClassWait}, Down: {trace.ClassWait},
		WakeOne: {trace.ClassPost}, WakeAll: {trace.ClassPost}, WakeSome: {trace.ClassPost}, Up: {trace.ClassPost}, Arrive: {trace.ClassPost},
		Send: {trace.ClassPost}, Expire: {trace.ClassPost}, Take: {trace.ClassWait}, Cancel: {trace.ClassPost},
		Init: {trace.ClassNone}, Destroy: {trace.ClassNone}, Announce: {trace.ClassNone}, Start: {trace.ClassNone}, Exit: {trace.ClassNone}, Stop: {trace.ClassNone},
		Receive: {trace.ClassWait}, Accept: {trace.ClassWait}, Poll: {trace.ClassWait}, Transmit: {trace.ClassPost}, Close: {trace.ClassPost},
	}
	for i := range table {
		s := &table[i]
		if want, ok := classes[s.Does]; ok && s.Op != trace.OpNone && !slices.Contains(want, s.Op.Class()) {
			t.Errorf("%v has class %d, and action %d", s.Op, s.Op.Class(), s.Does)
		}
	}
}

// TestRowsAreWhole checks that each row has the columns that its other columns require.
func TestRowsAreWhole(t *testing.T) {
	for i := range table {
		s := &table[i]
		lock := s.Blocks == UntilFree || s.Blocks == UntilReadable || s.Blocks == UntilDone
		worded := lock || s.Blocks == UntilEnded || s.Blocks == UntilReacquired || s.Blocks == UntilResumed || s.Does == Opaque
		switch {
		case s.Blocks != Never && !worded && s.Waits == "":
			t.Errorf("%v blocks, and no report can say on what", s.Op)
		case s.Blocks != Never && met[s.Blocks] == nil && s.Blocks != UntilReady && s.Blocks != UntilResumed:
			t.Errorf("%v blocks on condition %d, which nothing checks", s.Op, s.Blocks)
		case lock && s.Call == "":
			t.Errorf("%v blocks, and findings cannot name the call", s.Op)
		case s.Deadline && s.Blocks == Never:
			t.Errorf("%v has a deadline, and never blocks", s.Op)
		}
	}
}

// apply feeds events to a new state and returns what the last one changed.
func apply(events ...trace.Event) (*State, []Change) {
	s := &State{}
	var last []Change
	for i := range events {
		last = s.Apply(&events[i])
	}
	return s, last
}

func ev(t trace.ThreadID, op trace.Op, o trace.Object, change ...func(*trace.Event)) trace.Event {
	e := trace.Event{Thread: t, Op: op, Object: o}
	for _, c := range change {
		c(&e)
	}
	return e
}

func value(v uint64) func(*trace.Event) { return func(e *trace.Event) { e.Value = v } }
func aux(v uint64) func(*trace.Event)   { return func(e *trace.Event) { e.Aux = v } }
func result(r int32) func(*trace.Event) { return func(e *trace.Event) { e.Result = r } }

// TestHolders tests which thread holds a lock after some events.
func TestHolders(t *testing.T) {
	const m, c, f = 64, 128, 192
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   []Hold
	}{
		{"recursive", []trace.Event{ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexUnlock, m)},
			[]Hold{{Thread: 1, Depth: 2, Event: 0}}},
		{"a try-lock that failed", []trace.Event{ev(1, trace.OpMutexLock, m), ev(2, trace.OpMutexTrylock, m, result(16))},
			[]Hold{{Thread: 1, Depth: 1, Event: 0}}},
		{"a dead owner, and its heir", []trace.Event{ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexAbandon, m), ev(2, trace.OpMutexLock, m, result(OwnerDead))},
			[]Hold{{Thread: 2, Depth: 1, Event: 3}}},
		{"not recoverable", []trace.Event{ev(1, trace.OpMutexLock, m, result(NotRecoverable))}, nil},
		{"readers, the first leaves", []trace.Event{ev(1, trace.OpRwlockRdlock, m), ev(2, trace.OpRwlockRdlock, m), ev(2, trace.OpRwlockRdlock, m), ev(1, trace.OpRwlockUnlock, m)},
			[]Hold{{Thread: 2, Depth: 2, Event: 1}}},
		{"the only reader writes", []trace.Event{ev(1, trace.OpRwlockRdlock, m), ev(1, trace.OpRwlockTrywrlock, m)}, []Hold{{Thread: 1, Depth: 2, Event: 0}}},
		{"a wait releases all, and acquires as much", []trace.Event{ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m)), ev(2, trace.OpMutexLock, m), ev(2, trace.OpMutexUnlock, m), ev(1, trace.OpCondWake, c, aux(m), result(110))},
			[]Hold{{Thread: 1, Depth: 2, Event: 5}}},
		{"a wait that was cancelled before it began", []trace.Event{ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, c, aux(m), result(Cancelled))},
			[]Hold{{Thread: 1, Depth: 1, Event: 0}}},
		{"woken, but not recoverable", []trace.Event{ev(1, trace.OpCondWait, c, aux(m)), ev(1, trace.OpCondWake, c, aux(m), result(NotRecoverable))}, nil},
		{"unlocked by another", []trace.Event{ev(1, trace.OpMutexLock, m), ev(2, trace.OpMutexUnlock, m)}, nil},
		{"an unlock that failed", []trace.Event{ev(1, trace.OpMutexLock, m), ev(2, trace.OpMutexUnlock, m, result(1))}, []Hold{{Thread: 1, Depth: 1, Event: 0}}},
		{"an unlock that was not seen", []trace.Event{ev(1, trace.OpMutexLock, m), ev(2, trace.OpMutexLock, m)}, []Hold{{Thread: 2, Depth: 1, Event: 1}}},
		{"once", []trace.Event{ev(1, trace.OpOnceBegin, m, value(1)), ev(2, trace.OpOnceBegin, f, value(0))}, []Hold{{Thread: 1, Depth: 1, Event: 0}}},
		{"another at its address", []trace.Event{ev(1, trace.OpMutexLock, m), ev(2, trace.OpMutexInit, m)}, nil},
	} {
		s, _ := apply(test.events...)
		if got := s.Holders(m, -1); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestChanges checks what the last of some events changed.
func TestChanges(t *testing.T) {
	const m, o = 64, 128
	type change struct {
		kind   ChangeKind
		thread trace.ThreadID
		n      int32
	}
	wait := func(t trace.ThreadID) trace.Event { return ev(t, trace.OpFutexWait, o) }
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   []change
	}{
		{"a broadcast wakes in order", []trace.Event{ev(2, trace.OpCondWait, o, aux(m)), ev(1, trace.OpCondWait, o, aux(m)), ev(0, trace.OpCondBroadcast, o)},
			[]change{{Woke, 2, 0}, {Woke, 1, 0}}},
		{"nobody is woken twice", []trace.Event{ev(1, trace.OpCondWait, o, aux(m)), ev(0, trace.OpCondSignal, o, value(2)), ev(0, trace.OpCondBroadcast, o)}, nil},
		{"nor one that timed out", []trace.Event{ev(1, trace.OpCondWait, o, aux(m)), ev(1, trace.OpCondTimeout, o, aux(m)), ev(0, trace.OpCondBroadcast, o)}, nil},
		{"woken", []trace.Event{wait(1), ev(0, trace.OpFutexWake, o, value(1), aux(2)), ev(1, trace.OpFutexWakeup, o)}, []change{{Resumed, 1, 1}}},
		{"spuriously", []trace.Event{wait(1), ev(1, trace.OpSpuriousWake, o), ev(1, trace.OpFutexWakeup, o)}, []change{{Resumed, 1, 0}}},
		{"one of two, and it is not said which", []trace.Event{wait(1), wait(2), ev(0, trace.OpFutexWake, o, value(1))}, []change{{MayWake, 1, 0}, {MayWake, 2, 0}}},
		{"all", []trace.Event{wait(1), wait(2), ev(0, trace.OpFutexWake, o, value(2), aux(2))}, []change{{Woke, 1, 0}, {Woke, 2, 0}}},
		{"a semaphore's first count", []trace.Event{ev(1, trace.OpSemWait, o, value(2))}, []change{{Downed, 1, 3}}},
		{"the last at a barrier", []trace.Event{ev(0, trace.OpBarrierInit, o, value(2)), ev(1, trace.OpBarrierWait, o, value(1)), ev(0, trace.OpBarrierWait, o, value(2))},
			[]change{{Arrived, 0, 2}, {Opened, 1, 0}}},
		{"a barrier of which no more is known", []trace.Event{ev(1, trace.OpBarrierWait, o)}, []change{{Arrived, 1, 0}}},
		{"a recursive wait", []trace.Event{ev(1, trace.OpMutexLock, m), ev(1, trace.OpMutexLock, m), ev(1, trace.OpCondWait, o, aux(m))},
			[]change{{Waits, 1, 0}, {Released, 1, 2}}},
		{"a writer's unlock", []trace.Event{ev(1, trace.OpRwlockWrlock, m), ev(1, trace.OpRwlockUnlock, m)}, []change{{Released, 1, 1}}},
		{"a reader's", []trace.Event{ev(1, trace.OpRwlockRdlock, m), ev(1, trace.OpRwlockUnlock, m)}, []change{{ReleasedShared, 1, 1}}},
		{"a reader that came before the trace", []trace.Event{ev(1, trace.OpRwlockUnlock, m)}, []change{{ReleasedShared, 1, 1}}},
		{"once, done before", []trace.Event{ev(1, trace.OpOnceBegin, o)}, []change{{Passed, 1, 0}}},
	} {
		_, changes := apply(test.events...)
		var got []change
		for _, c := range changes {
			got = append(got, change{c.Kind, c.Thread, c.N})
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestGenerations checks where a barrier's generations begin without its initialisation.
func TestGenerations(t *testing.T) {
	s := &State{}
	for i, step := range []struct {
		ev    trace.Event
		first bool
	}{
		{ev(0, trace.OpBarrierWait, 9), true},
		{ev(1, trace.OpBarrierWait, 9), false},
		{ev(0, trace.OpBarrierLeave, 9), false},
		{ev(2, trace.OpBarrierWait, 9), true},
		{ev(1, trace.OpBarrierLeave, 9), false}, // of the first generation
		{ev(0, trace.OpBarrierWait, 9), false},
		{ev(3, trace.OpBarrierWait, 9, value(1)), true},
	} {
		if c := s.Apply(&step.ev)[0]; c.First != step.first {
			t.Errorf("event %d begins a generation: %v", i, c.First)
		}
	}
}

// TestReadersWaitForAnnouncedWriters: they wait until the writer has the lock or fails.
func TestReadersWaitForAnnouncedWriters(t *testing.T) {
	const l = 64
	can := func(events ...trace.Event) bool {
		s, _ := apply(events...)
		e := ev(3, trace.OpRwlockRdlock, l)
		return s.Can(3, &e)
	}
	read, queue := ev(1, trace.OpRwlockRdlock, l), ev(2, trace.OpRwlockQueue, l)
	if !can(read) || can(read, queue) || !can(read, queue, ev(2, trace.OpRwlockTimedwrlock, l, result(110))) {
		t.Error("a writer that waits is not preferred as long as it does")
	}
	if can(read, queue, ev(1, trace.OpRwlockUnlock, l), ev(2, trace.OpRwlockWrlock, l)) {
		t.Error("a reader could have what a writer has")
	}
}

// TestManyObjects outgrows the table and keeps every object's number and state.
func TestManyObjects(t *testing.T) {
	s := &State{}
	const n = 5000
	for i := range n {
		e := ev(trace.ThreadID(i%7), trace.OpMutexLock, trace.Object(i*8))
		c := s.Apply(&e)[0]
		if int(c.Object.Num) != i {
			t.Fatalf("object %d has number %d", i, c.Object.Num)
		}
	}
	for i := range n {
		if h, ok := s.HoldOf(trace.ThreadID(i%7), trace.Object(i*8)); !ok || h.Event != i {
			t.Fatalf("object %d is held since %v", i, h)
		}
	}
	if _, ok := s.HoldOf(0, n*8); ok {
		t.Error("an object that nobody locked is held")
	}
}

// TestGoLocks follows locks of goroutines, whose events come before the acquisition.
func TestGoLocks(t *testing.T) {
	const m = 64
	s := &State{}
	for _, step := range []struct {
		ev      trace.Event
		blocked bool
	}{
		{ev(1, trace.OpGmutexLock, m), false},
		{ev(2, trace.OpGmutexLock, m), true},
		{ev(3, trace.OpGmutexTrylock, m), false},
	} {
		s.ApplyGo(&step.ev, step.blocked)
	}
	if h := s.Holders(m, -1); len(h) != 1 || h[0].Thread != 1 {
		t.Errorf("it is held by %v", h)
	}
	unlock, resume := ev(1, trace.OpGmutexUnlock, m), ev(2, trace.OpResume, m, value(uint64(trace.OpGmutexLock)))
	s.ApplyGo(&unlock, true)
	s.ApplyGo(&resume, false)
	if h := s.Holders(m, -1); len(h) != 1 || h[0].Thread != 2 {
		t.Errorf("then it is held by %v", h)
	}
	// The program overwrites it, and its holder locks it again.
	for _, e := range []trace.Event{ev(2, trace.OpGmutexLock, m), ev(2, trace.OpGmutexUnlock, m)} {
		s.ApplyGo(&e, false)
	}
	if h := s.Holders(m, -1); len(h) != 0 {
		t.Errorf("in the end it is held by %v", h)
	}
}

// TestAnyEvents applies nonsensical events: a state accepts all of them, and stays consistent.
func TestAnyEvents(t *testing.T) {
	pick := func(r *rand.Rand, from ...uint64) uint64 { return from[r.IntN(len(from))] }
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := &State{}
		tr := &trace.Trace{Threads: make([]trace.Thread, 4)}
		for range 400 {
			e := trace.Event{
				Thread: trace.ThreadID(r.IntN(6)), Op: trace.Op(r.IntN(abi.OpCount + 5)),
				Object: trace.Object(pick(r, 0, 64, 128, 192, ^uint64(0))), Aux: pick(r, 0, 1, 2, 5, 64, 128, ^uint64(0)),
				Value: pick(r, 0, 1, 2, 3, 5, trace.MaxThreads, ^uint64(0)), Result: int32(pick(r, 0, 0, 0, 0, 4, 16, 110, 125, 130, 131)),
				Flags: trace.Flags(pick(r, 0, 0, uint64(trace.FlagTimeout), uint64(trace.FlagNoDecision))),
			}
			tr.Events = append(tr.Events, e)
			s.Can(e.Thread, &e)
			if r.IntN(2) == 0 {
				s.Apply(&e)
			} else {
				s.ApplyGo(&e, r.IntN(2) == 0)
			}
			for _, o := range s.slots {
				if o == nil {
					continue
				}
				held := map[trace.ThreadID]bool{}
				for _, h := range o.holds {
					if held[h.Thread] || h.Depth < 1 || !o.shared && len(o.holds) > 1 {
						t.Fatalf("seed %d: after %v: it is held by %v, shared: %v", seed, e.Op, o.holds, o.shared)
					}
					held[h.Thread] = true
				}
				for i, u := range o.queue {
					if th := s.threads[u]; !th.queued || th.at != o || slices.Contains(o.queue[:i], u) {
						t.Fatalf("seed %d: after %v: the queue is %v, T%d is elsewhere", seed, e.Op, o.queue, u)
					}
				}
			}
		}
		Enabled(tr)
	}
}
