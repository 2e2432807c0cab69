package waiting

import (
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// execution makes the recording of an execution whose threads take turns; each makes its acts in order, again and again. T0 is
// blocked.
func execution(decisions int, threads ...func(turn int) []trace.Event) *trace.Trace {
	t := &trace.Trace{Ending: trace.Ending{Kind: trace.Unfinished, Waiters: []trace.Waiter{{Op: trace.OpThreadJoin, Holder: -1}}}}
	t.Events = append(t.Events, trace.Event{Op: trace.OpThreadCreate, Site: 1})
	for i := range threads {
		t.Ending.Waiters = append(t.Ending.Waiters, trace.Waiter{Thread: trace.ThreadID(i + 1), Ready: true})
	}
	for turn := 0; len(t.Events) < decisions; turn++ {
		for i, f := range threads {
			for _, e := range f(turn) {
				e.Thread = trace.ThreadID(i + 1)
				t.Events = append(t.Events, e)
			}
		}
	}
	return t
}

func TestExamine(t *testing.T) {
	object := func(n uint64) trace.Object { return trace.MakeObject(trace.RegionGlobal, 0, n) }
	event := func(op trace.Op, site, on, value uint64) trace.Event {
		return trace.Event{Op: op, Site: trace.MakeSite(0, site), Object: object(on), Value: value}
	}
	load := func(site, on, value uint64) trace.Event { return event(trace.OpAtomicLoad, site, on, value) }
	store := func(site, on, value uint64) trace.Event { return event(trace.OpAtomicStore, site, on, value) }
	add := func(site, on, old, value uint64) trace.Event {
		e := event(trace.OpAtomicRmw, site, on, value)
		e.Aux = old
		return e
	}
	always := func(es ...trace.Event) func(int) []trace.Event { return func(int) []trace.Event { return es } }
	busy := event(trace.OpMutexTrylock, 8, 4, 0)
	busy.Result = int32(syscall.EBUSY)
	for _, c := range []struct {
		name    string
		threads []func(int) []trace.Event
		want    trace.Kind
		site    uint64 // of T1's loop
	}{
		{"a flag", []func(int) []trace.Event{always(load(5, 1, 0))}, trace.Hang, 5},
		{"under a lock", []func(int) []trace.Event{always(event(trace.OpMutexLock, 2, 3, 0), event(trace.OpRead, 5, 1, 0), event(trace.OpMutexUnlock, 3, 3, 0))}, trace.Hang, 5},
		{"with a ticket", []func(int) []trace.Event{always(add(4, 2, 0, 1), load(5, 1, 0), add(6, 2, 1, 0))}, trace.Hang, 5},
		{"only a ticket", []func(int) []trace.Event{always(add(4, 2, 1, 2), add(6, 2, 2, 1))}, trace.Hang, 4},
		{"two flags", []func(int) []trace.Event{always(load(5, 1, 0), load(9, 7, 0)), always(load(6, 2, 0))}, trace.Hang, 9},
		{"a lock that is tried", []func(int) []trace.Event{always(busy)}, trace.Hang, 8},
		{"a counter", []func(int) []trace.Event{func(turn int) []trace.Event {
			return []trace.Event{load(5, 1, 0), add(6, 2, uint64(turn), uint64(turn+1))}
		}}, trace.Unfinished, 0},
		{"sleeps and serves", []func(int) []trace.Event{always(event(trace.OpSleep, 5, 0, 1000), event(trace.OpMutexLock, 2, 3, 0), event(trace.OpMutexUnlock, 3, 3, 0))}, trace.Unfinished, 0},
		{"a turn that is passed on", []func(int) []trace.Event{
			func(int) []trace.Event { return []trace.Event{load(5, 1, 0), store(6, 1, 1)} },
			func(int) []trace.Event { return []trace.Event{load(7, 1, 1), store(8, 1, 0)} },
		}, trace.Livelock, 5},
		{"waits for one that works", []func(int) []trace.Event{
			always(load(5, 1, 0)),
			func(turn int) []trace.Event { return []trace.Event{store(7, 9, uint64(turn))} },
		}, trace.Unfinished, 0},
		{"sleeps of growing length", []func(int) []trace.Event{func(turn int) []trace.Event {
			return []trace.Event{load(5, 1, 0), event(trace.OpSleep, 6, 0, uint64(turn))}
		}}, trace.Hang, 5},
	} {
		v := Examine(execution(3000, c.threads...), 0)
		if v.Kind != c.want || c.want != trace.Unfinished && v.Waits[0].Site != trace.MakeSite(0, c.site) {
			t.Errorf("%s: %+v", c.name, v)
		}
		if c.want != trace.Unfinished && (v.From > 20 || v.Turns < 100) {
			t.Errorf("%s: from %d on, %d turns", c.name, v.From, v.Turns)
		}
	}
}

// TestSettles: what happens before the threads repeat themselves does not count, if it is over early.
func TestSettles(t *testing.T) {
	flag := trace.MakeObject(trace.RegionGlobal, 0, 1)
	late := func(at int) *trace.Trace {
		return execution(3000, func(turn int) []trace.Event {
			return []trace.Event{{Op: trace.OpAtomicLoad, Site: 5, Object: flag, Value: uint64(min(turn, at))}}
		})
	}
	if v := Examine(late(100), 0); v.Kind != trace.Hang || v.From < 100 || v.From > 110 {
		t.Errorf("%+v", v)
	}
	if v := Examine(late(2000), 0); v.Kind != trace.Unfinished {
		t.Errorf("a value changed until late: %+v", v)
	}
	r := New(0, &trace.Header{}, false)
	for _, e := range late(100).Events {
		r.Event(&e)
	}
	r.Unseen()
	if v := r.Verdict(&late(100).Ending); v.Kind != trace.Unfinished {
		t.Errorf("accesses were not seen: %+v", v)
	}
}

// TestAttempts: a goroutine that tries in vain to communicate or to lock waits, unless the object is used otherwise, too: then the
// attempts may succeed.
func TestAttempts(t *testing.T) {
	c := trace.MakeObject(trace.RegionHeap, 0, 64)
	receive := trace.Event{Op: trace.OpChanRecv, Site: 10, Object: c, Value: attempt}
	send := trace.Event{Op: trace.OpChanSend, Site: 11, Object: c, Value: attempt}
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   trace.Kind
	}{
		{"receive", []trace.Event{receive}, trace.Hang},
		{"receive and send", []trace.Event{send, receive}, trace.Unfinished},
		{"blocking receive", []trace.Event{{Op: trace.OpChanRecv, Site: 10, Object: c}}, trace.Unfinished},
		{"default of a select", []trace.Event{{Op: trace.OpSelect, Site: 12, Size: 2}, {Op: trace.OpSelectCase, Site: 12, Value: none, Flags: trace.FlagNoDecision}}, trace.Hang},
		{"case of a select", []trace.Event{{Op: trace.OpSelect, Site: 12, Size: 2}, {Op: trace.OpSelectCase, Site: 12, Value: 1, Flags: trace.FlagNoDecision}}, trace.Unfinished},
		{"try a lock", []trace.Event{{Op: trace.OpGmutexTrylock, Site: 13, Object: c}}, trace.Hang},
		{"lock and unlock", []trace.Event{{Op: trace.OpGmutexTrylock, Site: 13, Object: c}, {Op: trace.OpGmutexUnlock, Site: 14, Object: c}}, trace.Unfinished},
	} {
		tr := execution(2000, func(int) []trace.Event { return test.events })
		if v := Examine(tr, 0); v.Kind != test.want {
			t.Errorf("%s: %v, want %v", test.name, v.Kind, test.want)
		}
	}
}

// TestUnknownValues: what Go writes without a value in the recording may be another one in each turn.
func TestUnknownValues(t *testing.T) {
	o := trace.MakeObject(trace.RegionGlobal, 0, 8)
	read := trace.Event{Op: trace.OpRead, Site: 20, Object: o, Size: 8, Flags: trace.FlagNoDecision}
	write := trace.Event{Op: trace.OpWrite, Site: 21, Object: o, Size: 8, Flags: trace.FlagNoDecision}
	yield := trace.Event{Op: trace.OpGosched, Site: 22}
	known := func(e trace.Event) trace.Event {
		e.Flags |= trace.FlagValue
		return e
	}
	for _, test := range []struct {
		name   string
		target string
		events []trace.Event
		want   trace.Kind
	}{
		{"reads", "go", []trace.Event{read, yield}, trace.Hang},
		{"reads and writes", "go", []trace.Event{read, write, yield}, trace.Unfinished},
		{"writes the same", "go", []trace.Event{read, known(write), yield}, trace.Hang},
		{"of C", "c", []trace.Event{read, write, yield}, trace.Hang},
	} {
		tr := execution(9000, func(int) []trace.Event { return test.events })
		tr.Header.Target = test.target
		if v := Examine(tr, 0); v.Kind != test.want || v.Kind == trace.Hang && v.Waits[0].Op != trace.OpRead {
			t.Errorf("%s: %+v, want %v", test.name, v, test.want)
		}
	}
}

// TestChoice: of what a thread looks at in one place, an operation that is in every recording is named.
func TestChoice(t *testing.T) {
	o := trace.MakeObject(trace.RegionGlobal, 0, 8)
	read := trace.Event{Op: trace.OpRead, Site: 20, Object: o, Size: 8, Flags: trace.FlagNoDecision}
	stretch := trace.Event{Op: trace.OpYield, Site: 20, Object: o}
	for range 20 {
		if v := Examine(execution(2000, func(int) []trace.Event { return []trace.Event{read, stretch} }), 0); v.Kind != trace.Hang || v.Waits[0].Op != trace.OpYield {
			t.Fatalf("%+v", v)
		}
	}
}

// TestTurn: of the looks of a turn, the last one is named, and another one with it unless what the thread found there made it go on.
func TestTurn(t *testing.T) {
	object := func(n uint64) trace.Object { return trace.MakeObject(trace.RegionGlobal, 0, n) }
	load := func(site trace.Site, on, value uint64) trace.Event {
		return trace.Event{Op: trace.OpAtomicLoad, Site: site, Object: object(on), Value: value}
	}
	sleep := trace.Event{Op: trace.OpSleep, Site: 8, Value: 100}
	unlock := trace.Event{Op: trace.OpMutexUnlock, Site: 7, Object: object(9)}
	for _, test := range []struct {
		name  string
		first []trace.Event
		turn  []trace.Event
		want  uint64
		with  uint64 // 0 for none
	}{
		{"two conditions", nil, []trace.Event{load(5, 1, 0), load(6, 2, 0), sleep}, 2, 1},
		{"code in another order", nil, []trace.Event{load(6, 1, 0), load(5, 2, 0), sleep}, 2, 1},
		{"under a lock", nil, []trace.Event{load(6, 1, 0), load(5, 2, 0), unlock, sleep}, 2, 1},
		{"no pause", nil, []trace.Event{load(5, 1, 0), load(6, 2, 0)}, 2, 1},
		{"the first has come true", []trace.Event{load(6, 1, 0), sleep}, []trace.Event{load(6, 1, 1), load(5, 2, 0), sleep}, 2, 0},
		{"the first was another, and the thread went on as now", []trace.Event{load(6, 1, 0), load(5, 2, 0), sleep}, []trace.Event{load(6, 1, 1), load(5, 2, 0), sleep}, 2, 1},
		{"three conditions", nil, []trace.Event{load(4, 3, 0), load(5, 1, 0), load(6, 2, 0), sleep}, 2, 0},
		{"the same twice", nil, []trace.Event{load(5, 2, 0), load(6, 2, 0), sleep}, 2, 0},
	} {
		for range 10 { // whatever the order in which a map is walked
			v := Examine(execution(3000, func(turn int) []trace.Event {
				if turn == 0 && test.first != nil {
					return test.first
				}
				return test.turn
			}), 0)
			with := trace.Object(0)
			if test.with != 0 {
				with = object(test.with)
			}
			if v.Kind != trace.Hang || v.Waits[0].Object != object(test.want) || v.Waits[0].With.Object != with {
				t.Fatalf("%s: %+v", test.name, v)
			}
		}
	}
	// A poll that finds something ready again and again is what a thread waits for, and not the number of the descriptor.
	v := Examine(execution(3000, func(int) []trace.Event {
		return []trace.Event{{Op: trace.OpRead, Site: 5, Object: object(1), Value: 3}, {Op: trace.OpFdPoll, Site: 6, Object: object(2), Value: 1}}
	}), 0)
	if v.Kind != trace.Hang || v.Waits[0].Op != trace.OpFdPoll {
		t.Errorf("%+v", v)
	}
}

// TestStates: two threads that take turns may count them where no operation shows it.
func TestStates(t *testing.T) {
	turn := trace.MakeObject(trace.RegionGlobal, 0, 8)
	pass := func(me uint64, state func(turn int) uint64) func(int) []trace.Event {
		return func(n int) []trace.Event {
			return []trace.Event{
				{Op: trace.OpState, Value: state(n), Flags: trace.FlagNoDecision},
				{Op: trace.OpAtomicLoad, Site: trace.Site(30 + me), Object: turn, Value: me},
				{Op: trace.OpState, Value: state(n) + 1, Flags: trace.FlagNoDecision},
				{Op: trace.OpAtomicStore, Site: trace.Site(40 + me), Object: turn, Value: 1 - me},
			}
		}
	}
	counts, recurs := func(n int) uint64 { return 2 * uint64(n) }, func(int) uint64 { return 6 }
	for _, test := range []struct {
		name string
		a, b func(int) uint64
		want trace.Kind
	}{
		{"both recur", recurs, recurs, trace.Livelock},
		{"one counts", recurs, counts, trace.Unfinished},
		{"both count", counts, counts, trace.Unfinished},
	} {
		if v := Examine(execution(5000, pass(0, test.a), pass(1, test.b)), 0); v.Kind != test.want {
			t.Errorf("%s: %+v, want %v", test.name, v, test.want)
		}
	}
	// What the thread reads never changes, but it counts its turns and may give up.
	look := func(n int) []trace.Event {
		return []trace.Event{{Op: trace.OpState, Value: counts(n), Flags: trace.FlagNoDecision}, {Op: trace.OpAtomicLoad, Site: 30, Object: turn}}
	}
	if v := Examine(execution(5000, look), 0); v.Kind != trace.Unfinished {
		t.Errorf("a wait that counts: %+v", v)
	}
}

// TestOwnStack: what a thread looks at is rather the memory that it shares.
func TestOwnStack(t *testing.T) {
	own, shared := trace.MakeObject(trace.RegionStack, 1, 16), trace.MakeObject(trace.RegionGlobal, 0, 8)
	v := Examine(execution(3000, func(int) []trace.Event {
		return []trace.Event{{Op: trace.OpRead, Site: 20, Object: own}, {Op: trace.OpAtomicLoad, Site: 30, Object: shared}}
	}), 0)
	if v.Kind != trace.Hang || v.Waits[0].Object != shared {
		t.Errorf("%+v", v)
	}
}

// TestOutside: a child process may change what it shares with its parent.
func TestOutside(t *testing.T) {
	shared := trace.MakeObject(trace.RegionOther, 0, 0x7000)
	tr := execution(3000, func(int) []trace.Event { return []trace.Event{{Op: trace.OpAtomicLoad, Site: 30, Object: shared}} })
	if v := Examine(tr, 0); v.Kind != trace.Hang {
		t.Errorf("without a child: %+v", v)
	}
	tr.Events[0].Op = trace.OpProcessStart
	if v := Examine(tr, 0); v.Kind != trace.Unfinished || !v.Outside {
		t.Errorf("with a child: %+v", v)
	}
}

// TestMoves: what a thread reads from a descriptor, or writes to one, changes something outside of the threads' memory.
func TestMoves(t *testing.T) {
	flag := trace.MakeObject(trace.RegionGlobal, 0, 8)
	for n, want := range map[uint64]trace.Kind{0: trace.Hang, 8: trace.Unfinished} {
		v := Examine(execution(3000, func(int) []trace.Event {
			return []trace.Event{{Op: trace.OpAtomicLoad, Site: 30, Object: flag}, {Op: trace.OpFdRead, Site: 31, Object: 5, Value: n}}
		}), 0)
		if v.Kind != want {
			t.Errorf("reads %d bytes: %+v, want %v", n, v, want)
		}
	}
}

// TestIdle: a wait that never ends is a hang even beside a thread that keeps running but only repeats itself. If main joins that
// thread, the program is meant to run forever.
func TestIdle(t *testing.T) {
	at := func(main trace.Waiter, states bool) trace.Kind {
		tr := execution(3000, func(int) []trace.Event {
			e := []trace.Event{{Op: trace.OpSleep, Site: 30, Value: 1000}, {Op: trace.OpMutexLock, Site: 31, Object: 3}, {Op: trace.OpMutexUnlock, Site: 32, Object: 3}}
			if states {
				e = append(e, trace.Event{Op: trace.OpState, Value: 7, Flags: trace.FlagNoDecision})
			}
			return e
		})
		tr.Ending.Waiters[0] = main
		tr.Ending.Waiters = append(tr.Ending.Waiters, trace.Waiter{Thread: 2, Op: trace.OpCondWake, Object: 9, Holder: -1})
		return Examine(tr, 0).Kind
	}
	join := func(th trace.ThreadID) trace.Waiter { return trace.Waiter{Op: trace.OpThreadJoin, Holder: th} }
	for _, test := range []struct {
		name   string
		main   trace.Waiter
		states bool
		want   trace.Kind
	}{
		{"main joins the blocked thread", join(2), true, trace.Hang},
		{"main joins the idle thread", join(1), true, trace.Unfinished},
		{"main waits itself", trace.Waiter{Op: trace.OpSemWait, Object: 8, Holder: -1}, true, trace.Hang},
		{"main waits for input", trace.Waiter{Op: trace.OpFdRead, Object: 8, Holder: -1}, true, trace.Unfinished},
		{"states are not known", join(2), false, trace.Unfinished},
	} {
		if got := at(test.main, test.states); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestTimers: a timer that ends a thread's sleeps does not keep the thread from waiting.
func TestTimers(t *testing.T) {
	flag := trace.MakeObject(trace.RegionGlobal, 0, 8)
	tr := execution(3000,
		func(int) []trace.Event {
			return []trace.Event{{Op: trace.OpAtomicLoad, Site: 30, Object: flag}, {Op: trace.OpGsleep, Site: 31}, {Op: trace.OpResume, Site: 31, Value: uint64(trace.OpGsleep)}}
		},
		func(turn int) []trace.Event {
			return []trace.Event{{Op: trace.OpTimerFire, Value: uint64(turn)}}
		})
	tr.Ending.Waiters = tr.Ending.Waiters[:2]
	if v := Examine(tr, 0); v.Kind != trace.Hang || v.Waits[0].Object != flag {
		t.Errorf("%+v", v)
	}
}
