package trace

import (
	"fmt"
	"math/rand/v2"
)

// simulate runs a made-up program under a random scheduler and returns a valid trace of
// it: main creates workers and joins them; each worker loops over lock, reads and writes
// of shared and own memory, unlock, and sometimes allocates and frees a block. size is
// about the number of events.
func simulate(seed uint64, workers, size int) *Trace {
	s := &sim{
		rng:    rand.New(rand.NewPCG(seed, 17)),
		holder: map[Object]ThreadID{},
		t: &Trace{
			Header: Header{
				Heddle: "0.1", Target: "c", PointsVersion: 1,
				Command: []string{"./prog", "-t", fmt.Sprint(workers)}, Dir: "/src",
				Env: []string{"MALLOC_ARENA_MAX=1"}, EnvDigest: "sha256:00ff", BuildID: "0a0b",
				Strategy: "random seed=1", Instrumented: true,
				Points: []Site{MakeSite(0, 0x1200), MakeSite(0, 0x1208)},
			},
			Modules: []Module{{Path: "/src/prog", BuildID: "0a0b", Program: true}, {Path: "/lib/libc.so.6"}},
			Stacks:  [][]Site{nil, {MakeSite(0, 0x1500), MakeSite(1, 0x2000)}, {MakeSite(0, 0x1600)}},
		},
	}
	s.addThread(-1)
	per := max(size/max(workers, 1)/7, 1)
	for range workers {
		s.threads[0].ops = append(s.threads[0].ops, simOp{op: OpThreadCreate, site: 0x1100})
	}
	for w := range workers {
		s.threads[0].ops = append(s.threads[0].ops, simOp{op: OpThreadJoin, site: 0x1120, other: ThreadID(w + 1)})
	}
	s.per = per
	s.run()
	s.t.Ending = Ending{Kind: Clean, Thread: 0, Output: []byte("ok\n")}
	for i := range s.t.Threads {
		if th := &s.t.Threads[i]; !th.Ended {
			s.t.Ending.Waiters = append(s.t.Ending.Waiters, Waiter{Thread: th.ID, Op: OpMutexLock, Holder: -1, Ready: true})
		}
	}
	return s.t
}

type simOp struct {
	op     Op
	site   uint64
	object Object
	size   uint32
	other  ThreadID
	stack  uint32
}

type simThread struct {
	ops    []simOp // still to do, after the start
	value  uint64
	block  int // index into Allocs of the block it holds
	called bool
}

type sim struct {
	rng     *rand.Rand
	t       *Trace
	threads []*simThread
	holder  map[Object]ThreadID
	per     int
	heap    uint64
}

func (s *sim) addThread(parent ThreadID) ThreadID {
	id := ThreadID(len(s.threads))
	nth := 0
	if parent >= 0 {
		nth = int(id)
	}
	s.t.Threads = append(s.t.Threads, Thread{ID: id, Parent: parent, Nth: nth, Name: s.rng.Uint64(), Entry: MakeSite(0, 0x1300)})
	th := &simThread{ops: []simOp{{op: OpThreadStart, site: 0x1300}}}
	s.threads = append(s.threads, th)
	return id
}

// worker is the program of a worker that was just created.
func (s *sim) worker(id ThreadID) {
	th := s.threads[id]
	for i := range s.per {
		lock := MakeObject(RegionGlobal, 0, 0x4000+uint64(s.rng.IntN(3))*40)
		th.ops = append(th.ops,
			simOp{op: OpMutexLock, site: 0x1400, object: lock, stack: 1},
			simOp{op: OpRead, site: 0x1200, object: MakeObject(RegionGlobal, 0, 0x4100), size: 8},
			simOp{op: OpWrite, site: 0x1208, object: MakeObject(RegionGlobal, 0, 0x4100), size: 8},
			simOp{op: OpMutexUnlock, site: 0x1410, object: lock, stack: 1},
			simOp{op: OpRead, site: 0x1420, object: MakeObject(RegionHeap, 0, 0x100+8*uint64(i)), size: 8},
			simOp{op: OpWrite, site: 0x1430, object: MakeObject(RegionStack, int(id), 0x80), size: 4},
			simOp{op: OpAtomicRmw, site: 0x1440, object: MakeObject(RegionGlobal, 0, 0x4200), size: 4})
		if s.rng.IntN(20) == 0 {
			th.ops = append(th.ops, simOp{op: OpMalloc, site: 0x1450, size: 64, stack: 2}, simOp{op: OpFree, site: 0x1460, size: 64})
		}
	}
	th.ops = append(th.ops, simOp{op: OpThreadEnd, site: 0x1310})
}

func (s *sim) ready(id ThreadID) bool {
	th := s.threads[id]
	if len(th.ops) == 0 {
		return false
	}
	switch o := th.ops[0]; o.op {
	case OpMutexLock:
		_, held := s.holder[o.object]
		return !held
	case OpThreadJoin:
		return s.t.Threads[o.other].Ended
	}
	return true
}

func (s *sim) run() {
	current := ThreadID(0)
	for {
		var enabled ThreadSet
		var ids []ThreadID
		for i := range s.threads {
			if s.ready(ThreadID(i)) {
				enabled.Add(ThreadID(i))
				ids = append(ids, ThreadID(i))
			}
		}
		if len(ids) == 0 {
			return
		}
		if !enabled.Has(current) || s.rng.IntN(4) == 0 {
			current = ids[s.rng.IntN(len(ids))]
		}
		s.step(current, enabled)
	}
}

func (s *sim) step(id ThreadID, enabled ThreadSet) {
	th := s.threads[id]
	o := th.ops[0]
	th.ops = th.ops[1:]
	e := Event{Thread: id, Op: o.op, Site: MakeSite(0, o.site), Object: o.object, Size: o.size, Stack: o.stack, Enabled: enabled}
	switch o.op {
	case OpThreadCreate:
		c := s.addThread(id)
		s.worker(c)
		e.Value = uint64(c)
	case OpThreadJoin:
		e.Value = uint64(o.other)
	case OpThreadEnd:
		s.t.Threads[id].Ended = true
	case OpMutexLock:
		s.holder[o.object] = id
	case OpMutexUnlock:
		delete(s.holder, o.object)
	case OpRead, OpWrite:
		th.value += uint64(s.rng.IntN(3))
		e.Value = th.value
	case OpAtomicRmw:
		e.Aux = th.value
		th.value++
		e.Value = th.value
		e.Flags = FlagAtomic | 5<<4
	case OpMalloc:
		s.heap += 80
		e.Object = MakeObject(RegionHeap, 0, s.heap)
		e.Flags = FlagNoDecision
		th.block = len(s.t.Allocs)
		s.t.Allocs = append(s.t.Allocs, Alloc{Object: e.Object, Size: uint64(o.size), Thread: id, Site: e.Site, Stack: o.stack, Event: len(s.t.Events), Freed: -1})
	case OpFree:
		e.Object = s.t.Allocs[th.block].Object
		s.t.Allocs[th.block].Freed = len(s.t.Events)
	}
	s.t.Events = append(s.t.Events, e)
}
