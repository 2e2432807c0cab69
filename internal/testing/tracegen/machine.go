package tracegen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"

	"github.com/heddle-dev/heddle/trace"
)

// machine executes threads' programs one step at a time, as heddle's C runtime would.
// Threads are numbered by the programs, not in order of creation.
type machine struct {
	progs   [][]instr
	threads []thread
	mem     map[uint64]uint64 // byte → number of the write that wrote it
	locks   map[trace.Object]*lock
	sems    map[trace.Object]uint64
	queues  map[trace.Object][]int // the waiters on a condition or futex, in order
	bars    map[trace.Object][]int // threads that have arrived at a barrier
	once    map[trace.Object]int   // 0 new, 1 running, 2 done
	blocks  []bool                 // which heap blocks are in use
	exited  bool
	rng     *rand.Rand
}

type thread struct {
	pc      int
	created bool
	started bool
	ended   bool
	// half is what remains of an operation of two events, OpNone if nothing does.
	half    trace.Op
	granted bool
	expired bool   // its wait timed out
	queued  bool   // it asked for a lock before its readers
	last    bool   // it was the last to arrive at the barrier
	own     uint64 // heap block it allocated
	seen    uint64 // heap block that another thread published to it
	writes  uint64
}

type lock struct {
	writer, count, readers int // writer is a thread + 1
	queued                 int // writers that readers wait for
}

// instr is one operation of a program. What it is done to may come from a register.
type instr struct {
	op    trace.Op
	at    trace.Object
	mutex trace.Object // of a condition wait
	size  uint32
	value uint64 // thread, block size, count
	via   reg    // at is relative to this register
	into  reg    // where the value read goes
	skip  int    // how many instructions to omit where a try failed
	timed bool
	quiet bool // happens in the same breath as the operation before
}

type reg uint8

const (
	noReg reg = iota
	ownReg
	seenReg
)

const (
	blockSize  = 8192
	heapBlocks = 4
	busy       = int32(syscall.EBUSY)
	again      = int32(syscall.EAGAIN)
	timedOut   = int32(syscall.ETIMEDOUT)
)

func newMachine(progs [][]instr, rng *rand.Rand) *machine {
	m := &machine{
		progs: progs, threads: make([]thread, len(progs)), rng: rng,
		mem: map[uint64]uint64{}, locks: map[trace.Object]*lock{}, sems: map[trace.Object]uint64{},
		queues: map[trace.Object][]int{}, bars: map[trace.Object][]int{}, once: map[trace.Object]int{},
		blocks: make([]bool, heapBlocks),
	}
	m.threads[0].created = true
	return m
}

func (m *machine) lock(at trace.Object) *lock {
	if m.locks[at] == nil {
		m.locks[at] = &lock{}
	}
	return m.locks[at]
}

// next is what thread t does next.
func (m *machine) next(t int) instr {
	th := &m.threads[t]
	switch {
	case !th.started:
		return instr{op: trace.OpThreadStart}
	case th.pc >= len(m.progs[t]):
		return instr{op: trace.OpThreadEnd}
	}
	in := m.progs[t][th.pc]
	if th.half != trace.OpNone {
		in.op = th.half
	}
	switch in.via {
	case ownReg:
		in.at += trace.Object(th.own)
	case seenReg:
		in.at += trace.Object(th.seen)
	}
	return in
}

func (l *lock) readable() bool { return l.writer == 0 && l.queued == 0 }

func (m *machine) free(l *lock, t int) bool {
	return l.writer == 0 && l.readers == 0 || l.writer == t+1
}

// ready reports whether thread t can take a step.
func (m *machine) ready(t int) bool {
	th := &m.threads[t]
	if m.exited || !th.created || th.ended {
		return false
	}
	switch in := m.next(t); in.op {
	case trace.OpMutexLock, trace.OpSpinLock, trace.OpRwlockWrlock:
		return m.free(m.lock(in.at), t)
	case trace.OpMutexTimedlock, trace.OpRwlockTimedwrlock:
		return th.expired || m.free(m.lock(in.at), t)
	case trace.OpRwlockRdlock:
		return m.lock(in.at).readable()
	case trace.OpRwlockTimedrdlock:
		return th.expired || m.lock(in.at).readable()
	case trace.OpCondWake:
		return (th.granted || th.expired) && m.free(m.lock(in.mutex), t)
	case trace.OpFutexWakeup, trace.OpBarrierLeave:
		return th.granted || th.expired
	case trace.OpSemWait:
		return m.sems[in.at] > 0
	case trace.OpSemTimedwait:
		return th.expired || m.sems[in.at] > 0
	case trace.OpOnceBegin:
		return m.once[in.at] != 1
	case trace.OpThreadJoin:
		return m.threads[in.value].ended
	}
	return true
}

// enabled are the threads that can take a step.
func (m *machine) enabled() []int {
	var ts []int
	for t := range m.threads {
		if m.ready(t) {
			ts = append(ts, t)
		}
	}
	return ts
}

// awake are those of the threads that do not sleep. Any sleep can be over in the machine,
// which has no clock, but it is known to be only at its own event: where t takes a step.
func (m *machine) awake(threads []int, t int) []int {
	return slices.DeleteFunc(slices.Clone(threads), func(u int) bool { return u != t && m.next(u).op == trace.OpSleep })
}

// canExpire reports whether thread t is in a timed wait that could time out now.
func (m *machine) canExpire(t int) bool {
	th := &m.threads[t]
	if m.exited || !th.created || th.ended || !th.started || m.ready(t) {
		return false
	}
	in := m.next(t)
	if !in.timed {
		return false
	}
	switch in.op {
	case trace.OpMutexTimedlock, trace.OpSemTimedwait, trace.OpRwlockTimedrdlock, trace.OpRwlockTimedwrlock:
		return true
	case trace.OpFutexWakeup:
		return !th.granted
	case trace.OpCondWake:
		return !th.granted && m.free(m.lock(in.mutex), t)
	}
	return false
}

// step makes thread t do its next operation, and those after it that are not scheduling points. A
// hint is what was chosen when the same step was done before: whom it woke, which block
// it got.
func (m *machine) step(t int, hints []trace.Event) ([]trace.Event, error) {
	var out []trace.Event
	for {
		var hint *trace.Event
		if len(out) < len(hints) {
			hint = &hints[len(out)]
		}
		ev, err := m.do(t, hint)
		if err != nil {
			return nil, err
		}
		if len(out) > 0 {
			ev.Flags |= trace.FlagNoDecision
		}
		out = append(out, ev)
		th := &m.threads[t]
		if m.exited || th.ended || th.half != trace.OpNone || th.pc >= len(m.progs[t]) || !m.progs[t][th.pc].quiet {
			return out, nil
		}
	}
}

// do is one operation of thread t.
func (m *machine) do(t int, hint *trace.Event) (trace.Event, error) {
	if !m.ready(t) {
		return trace.Event{}, fmt.Errorf("thread %d is not ready to %s", t, m.next(t).op)
	}
	th := &m.threads[t]
	in := m.next(t)
	ev := trace.Event{Thread: trace.ThreadID(t), Op: in.op, Object: in.at, Size: in.size, Site: trace.MakeSite(0, uint64(t)<<16|uint64(th.pc))}
	done := true // continue to the next instruction
	switch in.op {
	case trace.OpThreadStart:
		th.started, done = true, false
	case trace.OpThreadEnd:
		th.ended, done = true, false
	case trace.OpThreadCreate:
		m.threads[in.value].created = true
		ev.Value = in.value
	case trace.OpThreadCreated, trace.OpThreadJoin:
		ev.Value = in.value
	case trace.OpProcessExit, trace.OpAbort:
		m.exited = true
	case trace.OpRead, trace.OpReadRange, trace.OpAtomicLoad:
		ev.Value = m.load(in)
		if in.into == seenReg {
			th.seen = heapAt(ev.Value)
		}
	case trace.OpWrite, trace.OpWriteRange, trace.OpAtomicStore:
		ev.Value = m.store(t, in)
	case trace.OpAtomicRmw:
		ev.Aux = m.load(in)
		ev.Value = m.store(t, in)
	case trace.OpAtomicCas:
		ev.Value = m.load(in)
		if ev.Value&1 == 0 {
			ev.Result = 1
			m.store(t, in)
		}
	case trace.OpMalloc:
		if err := m.malloc(t, &ev, hint); err != nil {
			return ev, err
		}
	case trace.OpFree:
		ev.Object, ev.Size = trace.Object(th.own), blockSize
		m.store(t, instr{at: ev.Object, size: 64})
		m.blocks[(trace.Object(th.own).Offset()/blockSize)-1] = false
		th.own = 0
	case trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpSpinTrylock,
		trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock:
		if th.queued {
			m.lock(in.at).queued--
			th.queued = false
		}
		if l := m.lock(in.at); m.free(l, t) {
			l.writer, l.count = t+1, l.count+1
		} else {
			ev.Result = busy
			if th.expired {
				ev.Result = timedOut
			}
			th.pc += in.skip
		}
	case trace.OpMutexUnlock, trace.OpSpinUnlock:
		m.unlock(in.at)
	case trace.OpRwlockQueue:
		m.lock(in.at).queued++
		th.queued = true
	case trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock:
		if l := m.lock(in.at); l.readable() {
			l.readers++
		} else {
			ev.Result = busy
			if th.expired {
				ev.Result = timedOut
			}
			th.pc += in.skip
		}
	case trace.OpRwlockUnlock:
		if l := m.lock(in.at); l.writer == t+1 {
			m.unlock(in.at)
		} else {
			l.readers--
		}
	case trace.OpOnceBegin:
		if m.once[in.at] == 0 {
			m.once[in.at] = 1
			ev.Value = 1
		} else {
			th.pc += in.skip
		}
	case trace.OpOnceEnd:
		m.once[in.at] = 2
	case trace.OpSemInit:
		m.sems[in.at] = in.value
		ev.Value = in.value
	case trace.OpSemPost:
		m.sems[in.at]++
		ev.Value = m.sems[in.at]
	case trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait:
		if m.sems[in.at] > 0 {
			m.sems[in.at]--
		} else {
			ev.Result = again
		}
		ev.Value = m.sems[in.at]
	case trace.OpSemGetvalue:
		ev.Value = m.sems[in.at]
	case trace.OpBarrierInit:
		ev.Value = in.value
	case trace.OpBarrierWait:
		in2 := append(m.bars[in.at], t)
		ev.Value = uint64(len(in2))
		th.half, th.granted, done = trace.OpBarrierLeave, false, false
		if uint64(len(in2)) == in.value {
			for _, u := range in2 {
				m.threads[u].granted = true
			}
			th.last, in2 = true, nil
		}
		m.bars[in.at] = in2
	case trace.OpBarrierLeave:
		if th.last {
			ev.Result, th.last = -1, false
		}
	case trace.OpCondWait:
		m.unlock(in.mutex)
		ev.Aux = uint64(in.mutex)
		m.queues[in.at] = append(m.queues[in.at], t)
		th.half, th.granted, done = trace.OpCondWake, false, false
	case trace.OpCondWake:
		ev.Aux = uint64(in.mutex)
		l := m.lock(in.mutex)
		l.writer, l.count = t+1, 1
		if !th.granted {
			ev.Result = timedOut
			m.leaveQueue(in.at, t)
		}
	case trace.OpCondSignal:
		q := m.queues[in.at]
		if len(q) > 0 {
			i := m.rng.IntN(len(q))
			if hint != nil {
				if i = slices.Index(q, int(hint.Value)-1); i < 0 {
					return ev, fmt.Errorf("thread %d signals, but thread %d does not wait", t, int(hint.Value)-1)
				}
			}
			ev.Value = uint64(q[i]) + 1
			m.threads[q[i]].granted = true
			m.leaveQueue(in.at, q[i])
		}
	case trace.OpCondBroadcast, trace.OpFutexWake:
		q := m.queues[in.at]
		if in.op == trace.OpFutexWake {
			q = q[:min(len(q), 1)]
		}
		ev.Value = uint64(len(q))
		for _, u := range slices.Clone(q) {
			m.threads[u].granted = true
			m.leaveQueue(in.at, u)
		}
	case trace.OpFutexWait:
		if ev.Value = m.mem[uint64(in.at)]; ev.Value>>8&1 == 1 {
			ev.Result = again
		} else {
			m.queues[in.at] = append(m.queues[in.at], t)
			th.half, th.granted, done = trace.OpFutexWakeup, false, false
		}
	case trace.OpFutexWakeup:
		if !th.granted {
			ev.Result = timedOut
			m.leaveQueue(in.at, t)
		}
	}
	if th.expired {
		ev.Flags |= trace.FlagTimeout
		th.expired = false
	}
	if done {
		th.half = trace.OpNone
		th.pc++
	}
	return ev, nil
}

func (m *machine) unlock(at trace.Object) {
	l := m.lock(at)
	if l.count--; l.count == 0 {
		l.writer = 0
	}
}

func (m *machine) leaveQueue(at trace.Object, t int) {
	m.queues[at] = slices.DeleteFunc(slices.Clone(m.queues[at]), func(u int) bool { return u == t })
}

// load is what an access reads: a hash of each byte's writer, and the value of a pointer.
func (m *machine) load(in instr) uint64 {
	h := uint64(14695981039346656037)
	for i := range uint64(max(in.size, 1)) {
		h = (h ^ m.mem[uint64(in.at)+i]) * 1099511628211
	}
	if in.into != noReg {
		return m.mem[uint64(in.at)]<<16 | h>>48
	}
	return h >> 8
}

// store writes a value that no other thread writes.
func (m *machine) store(t int, in instr) uint64 {
	th := &m.threads[t]
	th.writes++
	v := uint64(t+1)<<32 | th.writes<<8
	if in.into == ownReg && th.own != 0 {
		v |= trace.Object(th.own).Offset() / blockSize // the block, for heapAt
	}
	for i := range uint64(max(in.size, 1)) {
		m.mem[uint64(in.at)+i] = v
	}
	return v
}

// heapAt is the block that a loaded pointer points to, 0 if none.
func heapAt(v uint64) uint64 {
	if n := v >> 16 & 0xff; n > 0 && n <= heapBlocks {
		return uint64(trace.MakeObject(trace.RegionHeap, 0, n*blockSize))
	}
	return 0
}

func (m *machine) malloc(t int, ev, hint *trace.Event) error {
	i := -1
	if hint != nil {
		i = int(hint.Object.Offset()/blockSize) - 1
		if m.blocks[i] {
			return fmt.Errorf("thread %d allocates block %d, which is in use", t, i)
		}
	} else {
		var free []int
		for j, used := range m.blocks {
			if !used {
				free = append(free, j)
			}
		}
		i = free[m.rng.IntN(len(free))]
	}
	m.blocks[i] = true
	ev.Object = trace.MakeObject(trace.RegionHeap, 0, uint64(i+1)*blockSize)
	ev.Size = blockSize
	m.store(t, instr{at: ev.Object, size: 64})
	m.threads[t].own = uint64(ev.Object)
	return nil
}
