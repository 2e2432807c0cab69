package depend

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// edges returns a graph's edges as "0→2 lock".
func edges(g *Graph) string {
	var out []string
	for n := range int32(g.Len()) {
		for i, p := range g.Preds(n) {
			out = append(out, fmt.Sprintf("%d→%d %s", p, n, g.Kinds(n)[i]))
		}
	}
	return strings.Join(out, ", ")
}

// TestOperations covers what the random programs do not reach: operations that fail in unusual
// ways, unknown counts, signals, unknown operations.
func TestOperations(t *testing.T) {
	const m, s = trace.Object(64), trace.Object(128)
	for _, c := range []struct {
		name   string
		events []trace.Event
		want   string
	}{
		{"a lock after its owner died is taken", []trace.Event{
			{Thread: 0, Op: trace.OpMutexLock, Object: m},
			{Thread: 1, Op: trace.OpMutexLock, Object: m, Result: int32(syscall.EOWNERDEAD)},
			{Thread: 0, Op: trace.OpMutexLock, Object: m, Result: int32(syscall.EDEADLK)},
		}, "0→1 lock, 1→2 lock"},
		{"a mutex whose owner died, and one that cannot be recovered", []trace.Event{
			{Thread: 0, Op: trace.OpMutexAbandon, Object: m},
			{Thread: 1, Op: trace.OpMutexLock, Object: m, Result: int32(syscall.EOWNERDEAD)},
			{Thread: 1, Op: trace.OpMutexUnlock, Object: m},
			{Thread: 2, Op: trace.OpMutexLock, Object: m, Result: int32(syscall.ENOTRECOVERABLE)},
			{Thread: 3, Op: trace.OpMutexLock, Object: m, Result: int32(syscall.ENOTRECOVERABLE)},
		}, "0→1 lock, 2→3 lock, 2→4 lock"},
		{"a join that failed comes before the end", []trace.Event{
			{Thread: 0, Op: trace.OpThreadJoin, Value: 1, Result: int32(syscall.EBUSY)},
			{Thread: 1, Op: trace.OpThreadEnd},
			{Thread: 0, Op: trace.OpThreadJoin, Value: 1},
		}, "0→1 life, 1→2 life"},
		{"a cancellation is ordered with all", []trace.Event{
			{Thread: 0, Op: trace.OpSemWait, Object: s, Value: 0},
			{Thread: 1, Op: trace.OpCancel, Value: 2},
			{Thread: 2, Op: trace.OpSemWait, Object: s, Result: int32(syscall.ECANCELED)},
		}, "0→1 signal, 1→2 ending, 0→2 lock"},
		{"a writer before whom readers wait", []trace.Event{
			{Thread: 0, Op: trace.OpRwlockRdlock, Object: m},
			{Thread: 1, Op: trace.OpRwlockQueue, Object: m},
			{Thread: 2, Op: trace.OpRwlockTryrdlock, Object: m, Result: 16},
			{Thread: 0, Op: trace.OpRwlockUnlock, Object: m},
			{Thread: 1, Op: trace.OpRwlockTimedwrlock, Object: m},
		}, "0→1 lock, 1→2 lock, 1→3 lock, 3→4 lock, 2→4 lock"},
		{"locks that failed see the same", []trace.Event{
			{Thread: 0, Op: trace.OpMutexLock, Object: m},
			{Thread: 1, Op: trace.OpMutexTrylock, Object: m, Result: 16},
			{Thread: 2, Op: trace.OpMutexTimedlock, Object: m, Result: 110},
			{Thread: 0, Op: trace.OpMutexUnlock, Object: m},
		}, "0→1 lock, 0→2 lock, 2→3 lock, 1→3 lock"},
		{"an unlock that failed is none", []trace.Event{
			{Thread: 0, Op: trace.OpMutexUnlock, Object: m, Result: 1},
			{Thread: 1, Op: trace.OpMutexUnlock, Object: m, Result: 1},
		}, ""},
		{"a semaphore that was not initialised here had what its first count says", []trace.Event{
			{Thread: 0, Op: trace.OpSemWait, Object: s, Value: 0},
			{Thread: 1, Op: trace.OpSemPost, Object: s, Value: 1},
			{Thread: 2, Op: trace.OpSemWait, Object: s, Value: 0},
		}, "1→2 signal"},
		{"a semaphore whose counts do not add up is in order", []trace.Event{
			{Thread: 0, Op: trace.OpSemInit, Object: s, Value: 0},
			{Thread: 1, Op: trace.OpSemWait, Object: s},
			{Thread: 2, Op: trace.OpSemWait, Object: s},
		}, "0→1 lock, 1→2 lock"},
		{"a barrier of unknown count is in order", []trace.Event{
			{Thread: 0, Op: trace.OpBarrierWait, Object: s},
			{Thread: 1, Op: trace.OpBarrierWait, Object: s},
			{Thread: 0, Op: trace.OpBarrierLeave, Object: s},
			{Thread: 1, Op: trace.OpBarrierLeave, Object: s},
		}, "0→1 barrier, 1→2 barrier"},
		{"woken by nobody", []trace.Event{
			{Thread: 0, Op: trace.OpCondWait, Object: s, Aux: uint64(m)},
			{Thread: 1, Op: trace.OpCondSignal, Object: s},
			{Thread: 0, Op: trace.OpCondWake, Object: s, Aux: uint64(m)},
		}, "0→1 lock, 1→2 lock"},
		{"a create that failed starts nothing", []trace.Event{
			{Thread: 0, Op: trace.OpThreadCreate, Value: 1, Result: 11},
			{Thread: 1, Op: trace.OpThreadStart},
		}, ""},
		{"a signal is ordered with all", []trace.Event{
			{Thread: 0, Op: trace.OpYield},
			{Thread: 1, Op: trace.OpSignalSend, Value: 10},
			{Thread: 2, Op: trace.OpYield},
		}, "0→1 signal, 1→2 ending"},
		{"so are its delivery, a mask and a timer", []trace.Event{
			{Thread: 0, Op: trace.OpYield},
			{Thread: 1, Op: trace.OpSignalDeliver, Value: 10},
			{Thread: 2, Op: trace.OpSignalMask},
			{Thread: 3, Op: trace.OpTimerExpire, Value: 14},
		}, "0→1 signal, 1→2 ending, 0→2 signal, 2→3 ending, 0→3 signal, 1→3 signal"},
		{"a wait that runs out of time, or wakes up spuriously, is ordered with signals and not with its mutex", []trace.Event{
			{Thread: 0, Op: trace.OpCondWait, Object: s, Aux: uint64(m)},
			{Thread: 1, Op: trace.OpMutexLock, Object: m},
			{Thread: 0, Op: trace.OpCondTimeout, Object: s, Aux: uint64(m), Flags: trace.FlagTimeout},
			{Thread: 1, Op: trace.OpCondSignal, Object: s},
			{Thread: 1, Op: trace.OpMutexUnlock, Object: m},
			{Thread: 0, Op: trace.OpCondWake, Object: s, Aux: uint64(m), Result: 110},
		}, "0→1 lock, 2→3 lock, 3→5 lock, 4→5 lock"},
		{"nobody woke a spurious waking", []trace.Event{
			{Thread: 0, Op: trace.OpCondWait, Object: s, Aux: uint64(m)},
			{Thread: 0, Op: trace.OpSpuriousWake, Object: s},
			{Thread: 1, Op: trace.OpCondBroadcast, Object: s},
			{Thread: 0, Op: trace.OpCondWake, Object: s, Aux: uint64(m)},
		}, "1→2 lock, 2→3 lock"},
		{"so is what ends the execution, and what is not known", []trace.Event{
			{Thread: 0, Op: trace.OpYield},
			{Thread: 1, Op: trace.OpAbort},
			{Thread: 2, Op: trace.Op(4000), Object: 8},
		}, "0→1 ending, 1→2 ending, 0→2 ending"},
		{"a mutex in a block that is freed", []trace.Event{
			{Thread: 0, Op: trace.OpMutexLock, Object: trace.MakeObject(trace.RegionHeap, 0, 96)},
			{Thread: 1, Op: trace.OpFree, Object: trace.MakeObject(trace.RegionHeap, 0, 64), Size: 64},
		}, "0→1 conflict"},
		{"a channel's reads and writes are in order, another's are not with them", []trace.Event{
			{Thread: 0, Op: trace.OpFdWrite, Object: 1<<44 | 1<<40 | 1, Value: 1},
			{Thread: 1, Op: trace.OpFdWrite, Object: 1<<44 | 1<<40 | 2, Value: 1},
			{Thread: 2, Op: trace.OpFdRead, Object: 1<<44 | 1<<40 | 1, Value: 1},
		}, "0→2 lock"},
		{"a poll is in order with all channels, and what makes descriptors with one another", []trace.Event{
			{Thread: 0, Op: trace.OpFdWrite, Object: 1<<44 | 1<<40 | 1, Value: 1},
			{Thread: 1, Op: trace.OpFdPoll, Object: 1<<44 | 1<<40 | 2, Value: 1},
			{Thread: 2, Op: trace.OpFdOpen, Object: 1<<44 | 1<<40 | 3},
		}, "0→1 lock, 1→2 lock"},
		{"sleeping and yielding order nothing", []trace.Event{
			{Thread: 0, Op: trace.OpSleep, Value: 1000},
			{Thread: 1, Op: trace.OpYield},
			{Thread: 0, Op: trace.OpAtomicFence},
		}, ""},
	} {
		if got := edges(Build(&trace.Trace{Events: c.events})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestWildLengths covers accesses at the top of the address space, of no length, and beyond its
// end.
func TestWildLengths(t *testing.T) {
	top := ^uint64(0)
	b := NewBuilder(0)
	for i, e := range []Effect{
		{Mode: Write, Addr: top - 3, Size: 1 << 40},
		{Mode: Read, Addr: top - 2, Size: 1},
		{Mode: Write, Addr: 0, Size: top},
		{Mode: Read, Addr: 1 << 50, Size: 8},
	} {
		b.Begin(int32(i), false)
		b.Effect(e)
	}
	if got := edges(b.Graph()); got != "0→1 conflict, 1→2 conflict, 0→2 conflict, 2→3 conflict" {
		t.Error(got)
	}
}

// TestGoOperations covers what the machine of TestGoOrdersReplay does not do.
func TestGoOperations(t *testing.T) {
	const c, x = trace.Object(64), trace.Object(128)
	quiet := func(e trace.Event) trace.Event { e.Flags |= trace.FlagNoDecision; return e }
	for _, k := range []struct {
		name   string
		events []trace.Event
		ending trace.Ending
		want   string
	}{
		{"releases and acquires of one variable", []trace.Event{
			{Thread: 0, Op: trace.OpRelease, Object: c},
			{Thread: 1, Op: trace.OpAcquire, Object: c},
			{Thread: 2, Op: trace.OpAcquire, Object: c},
			{Thread: 0, Op: trace.OpReleaseMerge, Object: c},
			{Thread: 1, Op: trace.OpReleaseAcquire, Object: x},
		}, trace.Ending{}, "0→1 lock, 0→2 lock, 2→3 lock, 1→3 lock"},
		{"an acquire on behalf of a waiter belongs to who woke it", []trace.Event{
			{Thread: 1, Op: trace.OpChanRecv, Object: c},
			{Thread: 0, Op: trace.OpChanSend, Object: c},
			quiet(trace.Event{Thread: 1, Op: trace.OpAcquire, Object: c}),
			quiet(trace.Event{Thread: 0, Op: trace.OpRelease, Object: c}),
			{Thread: 1, Op: trace.OpResume, Object: c, Value: uint64(trace.OpChanRecv)},
		}, trace.Ending{}, "0→1 lock, 1→2 lock"},
		{"coroutines take turns", []trace.Event{
			{Thread: 0, Op: trace.OpGo, Value: 1},
			quiet(trace.Event{Thread: 0, Op: trace.OpCoroSwitch, Value: 1}),
			{Thread: 1, Op: trace.OpThreadStart},
			quiet(trace.Event{Thread: 1, Op: trace.OpCoroSwitch, Value: 0}),
			{Thread: 0, Op: trace.OpGosched},
			{Thread: 1, Op: trace.OpGosched},
		}, trace.Ending{}, "0→1 life, 1→2 signal"},
		{"pools, maps and onces", []trace.Event{
			{Thread: 0, Op: trace.OpPoolPut, Object: c},
			{Thread: 1, Op: trace.OpPoolGet, Object: c},
			{Thread: 0, Op: trace.OpSyncMap, Object: x},
			{Thread: 1, Op: trace.OpOnceDo, Object: x},
		}, trace.Ending{}, "0→1 lock, 2→3 lock"},
		{"the world outside, and the end of a test", []trace.Event{
			{Thread: 0, Op: trace.OpGosched},
			{Thread: 1, Op: trace.OpExternal},
			{Thread: 2, Op: trace.OpGosched},
			{Thread: 0, Op: trace.OpTestEnd},
		}, trace.Ending{}, "0→1 signal, 1→2 ending, 1→3 ending, 2→3 signal"},
		{"what a test says first", []trace.Event{
			{Thread: 0, Op: trace.OpTestFail},
			{Thread: 1, Op: trace.OpTestFail},
		}, trace.Ending{}, "0→1 lock"},
		{"a resume of nobody knows what", []trace.Event{
			{Thread: 0, Op: trace.OpGosched},
			{Thread: 1, Op: trace.OpResume, Value: uint64(trace.OpChanRecv)},
		}, trace.Ending{}, "0→1 signal"},
		{"a panic comes after all that came before it", []trace.Event{
			{Thread: 0, Op: trace.OpGosched},
			{Thread: 1, Op: trace.OpRead, Object: c, Size: 1},
			{Thread: 0, Op: trace.OpGosched},
		}, trace.Ending{Kind: trace.Panic, Thread: 1}, "0→1 ending, 1→2 ending"},
	} {
		if got := edges(Build(&trace.Trace{Events: k.events, Ending: k.ending})); got != k.want {
			t.Errorf("%s: %s, want %s", k.name, got, k.want)
		}
	}
}

// TestReorderKeepsTheClock: goroutines are numbered in their new order of creation, threads that
// existed from the start keep their numbers, and a goroutine that waits is not enabled.
func TestReorderKeepsTheClock(t *testing.T) {
	all := trace.ThreadSet{Low: 1}
	tr := &trace.Trace{
		Threads: []trace.Thread{{ID: 0, Parent: -1}, {ID: 1, Nth: 1, Name: 1}, {ID: 2, Parent: -1, Label: trace.ClockLabel, Name: 2}, {ID: 3, Nth: 2, Name: 3}},
		Events: []trace.Event{
			{Thread: 0, Op: trace.OpGo, Value: 1, Enabled: all},
			{Thread: 0, Op: trace.OpGo, Value: 3, Enabled: all},
			{Thread: 3, Op: trace.OpThreadStart, Enabled: all},
			{Thread: 1, Op: trace.OpThreadStart, Enabled: all},
			{Thread: 1, Op: trace.OpChanRecv, Object: 64, Enabled: all},
			{Thread: 3, Op: trace.OpGosched, Enabled: all},
			{Thread: 3, Op: trace.OpChanSend, Object: 64, Enabled: all},
			{Thread: 0, Op: trace.OpGosched, Enabled: all},
			{Thread: 1, Op: trace.OpResume, Object: 64, Value: uint64(trace.OpChanRecv), Enabled: all},
		},
	}
	g := Build(tr)
	out := g.Reorder(tr, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8})
	if out.Threads[2].Label != trace.ClockLabel || out.Threads[3].Name != 3 {
		t.Errorf("threads became %+v", out.Threads)
	}
	for i, want := range []string{"{0}", "{0,1}", "{0,1,3}", "{0,1,3}", "{0,1,3}", "{0,3}", "{0,3}", "{0,1}", "{0,1}"} {
		if got := out.Events[i].Enabled.String(); got != want {
			t.Errorf("event %d: enabled %s, want %s", i, got, want)
		}
	}
}
