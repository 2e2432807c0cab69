package reporttest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// Random is a valid trace without much sense: threads that do all kinds of operations on
// a few objects of all regions, some of them in loops, under a random scheduler.
func Random(t testing.TB, seed uint64, threads, events int) (*trace.Trace, *Names) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	tr := &trace.Trace{
		Header:  trace.Header{Target: "c", Instrumented: true, PointsVersion: 1, Command: []string{"./random"}, Dir: t.TempDir()},
		Modules: []trace.Module{{Path: "/bin/random", Program: true}},
		Stacks:  [][]trace.Site{nil, {trace.MakeSite(0, 7<<12|1)}},
	}
	names := &Names{files: []string{"random.c"}, objects: map[trace.Object]string{}, tr: tr}
	for i := range threads {
		names.funcs = append(names.funcs, function{fmt.Sprintf("f%d", i), 0, 10 * i, 10*i + 9})
		th := trace.Thread{ID: trace.ThreadID(i), Parent: 0, Nth: i, Name: uint64(i + 1), Entry: trace.MakeSite(0, uint64(10*i)<<12)}
		if i == 0 {
			th.Parent = -1
		}
		tr.Threads = append(tr.Threads, th)
	}
	tr.Allocs = []trace.Alloc{{Object: trace.MakeObject(trace.RegionHeap, 0, 0x100), Size: 64, Site: trace.MakeSite(0, 3<<12), Freed: -1}}
	random := randomizer{r, tr, threads}
	add := random.add
	add(trace.Event{Op: trace.OpThreadStart})
	for i := 1; i < threads; i++ {
		add(trace.Event{Op: trace.OpThreadCreate, Value: uint64(i), Site: trace.MakeSite(0, 1<<12)})
	}
	for i := 1; i < threads; i++ {
		add(trace.Event{Thread: trace.ThreadID(i), Op: trace.OpThreadStart, Site: tr.Threads[i].Entry})
	}
	for len(tr.Events) < events {
		block := make([]trace.Event, 1+r.IntN(4))
		t := trace.ThreadID(r.IntN(threads))
		for i := range block {
			if r.IntN(4) == 0 {
				t = trace.ThreadID(r.IntN(threads))
			}
			block[i] = random.event(t)
		}
		turns := 1
		if r.IntN(3) == 0 {
			turns = 1 + r.IntN(8)
		}
		for range turns {
			for _, e := range block {
				add(e)
			}
		}
	}
	random.end()
	if err := trace.Validate(tr); err != nil {
		t.Fatal(err)
	}
	return tr, names
}

type randomizer struct {
	r       *rand.Rand
	tr      *trace.Trace
	threads int
}

func (x randomizer) add(e trace.Event) {
	started := trace.ThreadID(len(x.tr.Events))
	for t := range x.threads {
		if started >= trace.ThreadID(x.threads) && x.r.IntN(2) == 0 || trace.ThreadID(t) == e.Thread {
			e.Enabled.Add(trace.ThreadID(t))
		}
	}
	x.tr.Events = append(x.tr.Events, e)
}

// operations that may stand anywhere.
var anywhere = func() (ops []trace.Op) {
	for op := trace.OpMutexInit; op <= trace.OpFree; op++ {
		if _, ok := trace.ParseOp(op.String()); ok && op != trace.OpFree {
			ops = append(ops, op)
		}
	}
	return ops
}()

func (x randomizer) event(t trace.ThreadID) trace.Event {
	r := x.r
	e := trace.Event{
		Thread: t, Op: anywhere[r.IntN(len(anywhere))], Site: trace.MakeSite(0, uint64(10*int(t)+r.IntN(9))<<12|uint64(r.IntN(3))),
		Value: uint64(r.IntN(4)), Stack: uint32(r.IntN(2)),
	}
	if r.IntN(2) == 0 {
		e.Op = []trace.Op{trace.OpRead, trace.OpWrite, trace.OpMutexLock, trace.OpMutexUnlock}[r.IntN(4)]
	}
	e.Object = x.object()
	e.Aux = uint64(x.object())
	switch e.Op.Class() {
	case trace.ClassRead, trace.ClassWrite, trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
		e.Size = uint32(1) << r.IntN(5)
	}
	if r.IntN(12) == 0 {
		e.Result = int32(r.IntN(120))
	}
	if r.IntN(8) == 0 {
		e.Flags |= trace.FlagNoDecision
	}
	return e
}

func (x randomizer) object() trace.Object {
	off := uint64(x.r.IntN(12) * 4)
	switch x.r.IntN(5) {
	case 0:
		return trace.MakeObject(trace.RegionHeap, 0, 0x100+off)
	case 1:
		return trace.MakeObject(trace.RegionStack, x.r.IntN(x.threads), off)
	case 2:
		return trace.MakeObject(trace.RegionOther, 0, off)
	}
	return trace.MakeObject(trace.RegionGlobal, 0, 0x4000+off)
}

// end makes up an ending of any kind.
func (x randomizer) end() {
	e := &x.tr.Ending
	e.Kind = trace.Kind(x.r.IntN(int(trace.Diverged) + 1))
	e.Thread = trace.ThreadID(x.r.IntN(x.threads))
	e.Status = int32(x.r.IntN(12))
	e.Message = []string{"", "some message", "two\nlines"}[x.r.IntN(3)]
	if !e.Kind.Failed() {
		return
	}
	e.Site = trace.MakeSite(0, 5<<12)
	for t := range x.threads {
		e.Waiters = append(e.Waiters, trace.Waiter{
			Thread: trace.ThreadID(t), Op: trace.OpMutexLock, Object: x.object(), Holder: trace.ThreadID(x.r.IntN(x.threads+1) - 1),
			Ready: e.Kind != trace.Deadlock && x.r.IntN(2) == 0, Site: trace.MakeSite(0, uint64(t)<<12),
		})
	}
	if e.Kind == trace.Deadlock && x.threads > 1 {
		e.Cycle = []trace.ThreadID{1, 0}
	}
}
