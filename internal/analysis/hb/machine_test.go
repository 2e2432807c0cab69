package hb

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// machine generates random executions that obey the meaning of every operation: locks are taken
// when free, waits wake when woken, barriers open when full. It has no clocks.
type machine struct {
	menu    []int // what this execution does: some of everything (swarm testing)
	rand    *rand.Rand
	events  []trace.Event
	threads []*actor

	mutex    map[trace.Object]int // holder + 1
	readers  map[trace.Object][]int
	writer   map[trace.Object]int
	sem      map[trace.Object]int
	once     map[trace.Object]int // 0 new, 1 running, 2 done
	arrivals map[trace.Object]int
	waiting  map[trace.Object][]int // cond or futex
}

type actor struct {
	id      int
	started bool
	ended   bool
	joined  bool
	// cancelled: another thread requested its cancellation.
	cancelled bool
	holds     []trace.Object // mutexes
	rw        map[trace.Object]bool
	runs      []trace.Object // onces

	// asleep is the actor's current wait; ready means that the actor may wake.
	asleep trace.Op
	object trace.Object
	aux    uint64
	ready  bool
	phase  *int // arrivals still missing
}

const (
	barrierSize = 2
	choices     = 39 // cases of step
)

var orders = []trace.Flags{orderRelaxed, orderConsume, orderAcquire, orderRelease, orderAcqRel, orderSeqCst}

func (m *machine) emit(a *actor, op trace.Op, o trace.Object, change ...func(*trace.Event)) {
	e := trace.Event{Thread: trace.ThreadID(a.id), Op: op, Object: o}
	for _, c := range change {
		c(&e)
	}
	m.events = append(m.events, e)
}

func value(v uint64) func(*trace.Event) { return func(e *trace.Event) { e.Value = v } }
func aux(v uint64) func(*trace.Event)   { return func(e *trace.Event) { e.Aux = v } }
func result(r int32) func(*trace.Event) { return func(e *trace.Event) { e.Result = r } }
func order(o trace.Flags) func(*trace.Event) {
	return func(e *trace.Event) { e.Flags |= trace.FlagAtomic | o<<orderShift }
}

func (m *machine) pick(n int) int { return m.rand.IntN(n) }

// execution generates an execution. Only its length shrinks: rapid's own draws favour small
// numbers, which would make all threads do the same.
func execution(t *rapid.T) []trace.Event {
	seed := rapid.Uint64().Draw(t, "seed")
	m := &machine{
		rand: rand.New(rand.NewPCG(seed, 0)), mutex: map[trace.Object]int{}, readers: map[trace.Object][]int{}, writer: map[trace.Object]int{},
		sem: map[trace.Object]int{}, once: map[trace.Object]int{}, arrivals: map[trace.Object]int{}, waiting: map[trace.Object][]int{},
	}
	for what := range choices {
		if what == 0 || m.pick(5) < 2 {
			m.menu = append(m.menu, what)
		}
	}
	m.threads = []*actor{{id: 0, started: true, rw: map[trace.Object]bool{}}}
	steps := rapid.IntRange(60, 200).Draw(t, "steps")
	for range steps {
		var can []*actor
		for _, a := range m.threads {
			if !a.ended && (a.asleep == trace.OpNone || a.ready && m.canWake(a)) {
				can = append(can, a)
			}
		}
		if len(can) == 0 {
			break
		}
		m.step(can[m.pick(len(can))])
	}
	return m.events
}

func (m *machine) canWake(a *actor) bool {
	return a.asleep != trace.OpCondWake || m.mutex[trace.Object(a.aux)] == 0
}

// step makes a perform an operation. There are few objects, so that threads share them.
func (m *machine) step(a *actor) {
	if !a.started {
		a.started = true
		m.emit(a, trace.OpThreadStart, 0)
		return
	}
	if a.asleep != trace.OpNone {
		op := a.asleep
		a.asleep, a.ready, a.phase = trace.OpNone, false, nil
		switch op {
		case trace.OpCondWake:
			m.mutex[trace.Object(a.aux)] = a.id + 1
			a.holds = append(a.holds, trace.Object(a.aux))
			m.emit(a, op, a.object, aux(a.aux))
		default:
			m.emit(a, op, a.object)
		}
		return
	}
	x := trace.Object(1 + m.pick(2))
	sleeps := a.id > 0 // main stays awake, or all threads would soon be asleep
	const (
		mutexes = 10 * (iota + 1)
		rwlocks
		conds
		futexes
		sems
		barriers
		onces
		atomics
		spins
		cancels
		mixed = 1 << 10
	)
	switch m.menu[m.pick(len(m.menu))] {
	case 0: // create
		if len(m.threads) < 9 {
			child := &actor{id: len(m.threads), rw: map[trace.Object]bool{}}
			m.threads = append(m.threads, child)
			m.emit(a, trace.OpThreadCreate, 0, value(uint64(child.id)))
		} else {
			m.emit(a, trace.OpThreadCreate, 0, value(1), result(11)) // EAGAIN
		}
	case 1: // join
		for _, b := range m.threads {
			if b.ended && !b.joined {
				b.joined = true
				m.emit(a, trace.OpThreadJoin, 0, value(uint64(b.id)))
				return
			}
		}
	case 2: // end, rarely, and never main
		if a.id > 0 && m.pick(3) == 0 {
			a.ended = true
			m.emit(a, trace.OpThreadEnd, 0)
		}
	case 3, 4, 5: // lock or fail to
		op := []trace.Op{trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinTrylock, trace.OpSpinLock}[m.pick(5)]
		l := mutexes + x
		if op == trace.OpSpinLock || op == trace.OpSpinTrylock {
			l = spins + x
		}
		switch {
		case m.mutex[l] == 0:
			m.mutex[l] = a.id + 1
			a.holds = append(a.holds, l)
			r := int32(0)
			if m.pick(10) == 0 {
				r = ops.OwnerDead
			}
			m.emit(a, op, l, result(r))
		case op == trace.OpMutexTrylock, op == trace.OpSpinTrylock:
			m.emit(a, op, l, result(16)) // EBUSY
		case op == trace.OpMutexTimedlock:
			m.emit(a, op, l, result(110)) // ETIMEDOUT
		}
	case 6, 7: // unlock
		if n := len(a.holds); n > 0 {
			i := m.pick(n)
			l := a.holds[i]
			a.holds = slices.Delete(a.holds, i, i+1)
			m.mutex[l] = 0
			switch {
			case l > spins:
				m.emit(a, trace.OpSpinUnlock, l)
			case m.pick(6) == 0:
				m.emit(a, trace.OpMutexAbandon, l)
			default:
				m.emit(a, trace.OpMutexUnlock, l)
			}
		} else if m.pick(4) == 0 {
			m.emit(a, trace.OpMutexUnlock, mutexes+x, result(1)) // EPERM
		}
	case 9, 10: // read or write lock
		l := rwlocks + x
		if _, held := a.rw[l]; held {
			write := a.rw[l]
			delete(a.rw, l)
			if write {
				m.writer[l] = 0
			} else {
				m.readers[l] = slices.DeleteFunc(m.readers[l], func(i int) bool { return i == a.id })
			}
			m.emit(a, trace.OpRwlockUnlock, l)
			return
		}
		if m.pick(2) == 0 {
			if m.writer[l] == 0 {
				m.readers[l] = append(m.readers[l], a.id)
				a.rw[l] = false
				m.emit(a, []trace.Op{trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock}[m.pick(3)], l)
			} else {
				m.emit(a, trace.OpRwlockTryrdlock, l, result(16))
			}
		} else if m.writer[l] == 0 && len(m.readers[l]) == 0 {
			m.writer[l] = a.id + 1
			a.rw[l] = true
			m.emit(a, []trace.Op{trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock}[m.pick(3)], l)
		} else {
			m.emit(a, trace.OpRwlockTimedwrlock, l, result(110))
		}
	case 8, 11, 12: // cond wait
		for i, l := range a.holds {
			if l > spins || !sleeps {
				continue
			}
			a.holds = slices.Delete(a.holds, i, i+1)
			m.mutex[l] = 0
			c := conds + x
			a.asleep, a.object, a.aux = trace.OpCondWake, c, uint64(l)
			m.waiting[c] = append(m.waiting[c], a.id)
			m.emit(a, trace.OpCondWait, c, aux(uint64(l)))
			return
		}
	case 13: // signal
		c := conds + x
		if w := m.waiting[c]; len(w) > 0 {
			i := m.pick(len(w))
			id := w[i]
			m.waiting[c] = slices.Delete(w, i, i+1)
			m.threads[id].ready = true
			m.emit(a, trace.OpCondSignal, c, value(uint64(id)+1))
		} else {
			m.emit(a, trace.OpCondSignal, c)
		}
	case 14: // broadcast
		c := conds + x
		m.emit(a, trace.OpCondBroadcast, c, value(uint64(len(m.waiting[c]))))
		for _, id := range m.waiting[c] {
			m.threads[id].ready = true
		}
		m.waiting[c] = nil
	case 15: // a wait that times out
		for _, b := range m.threads {
			if b.asleep == trace.OpCondWake && !b.ready && m.mutex[trace.Object(b.aux)] == 0 {
				b.asleep = trace.OpNone
				m.waiting[b.object] = slices.DeleteFunc(m.waiting[b.object], func(i int) bool { return i == b.id })
				m.mutex[trace.Object(b.aux)] = b.id + 1
				b.holds = append(b.holds, trace.Object(b.aux))
				r := int32(110)
				if b.cancelled {
					r = ops.Cancelled
				}
				m.emit(b, trace.OpCondWake, b.object, aux(b.aux), result(r))
				return
			}
			if b.asleep == trace.OpFutexWakeup && !b.ready {
				b.asleep = trace.OpNone
				m.waiting[b.object] = slices.DeleteFunc(m.waiting[b.object], func(i int) bool { return i == b.id })
				m.emit(b, trace.OpFutexWakeup, b.object, result(110))
				return
			}
		}
	case 16: // futex wait
		f := futexes + x
		if !sleeps || m.pick(3) == 0 {
			m.emit(a, trace.OpFutexWait, f, result(11))
			return
		}
		a.asleep, a.object = trace.OpFutexWakeup, f
		m.waiting[f] = append(m.waiting[f], a.id)
		m.emit(a, trace.OpFutexWait, f)
	case 17: // futex wake of one or all: no event names those woken by a wake of some
		f := futexes + x
		w := m.waiting[f]
		if len(w) > 0 && m.pick(2) == 0 {
			i := m.pick(len(w))
			id := w[i]
			m.waiting[f] = slices.Delete(w, i, i+1)
			m.threads[id].ready = true
			m.emit(a, trace.OpFutexWake, f, value(1), aux(uint64(id)+1))
			return
		}
		first := uint64(0)
		for i, id := range w {
			m.threads[id].ready = true
			if i == 0 {
				first = uint64(id) + 1
			}
		}
		m.waiting[f] = nil
		m.emit(a, trace.OpFutexWake, f, value(uint64(len(w))), aux(first))
	case 18:
		m.sem[sems+x]++
		m.emit(a, trace.OpSemPost, sems+x)
	case 19, 20:
		if m.sem[sems+x] > 0 {
			m.sem[sems+x]--
			m.emit(a, []trace.Op{trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait}[m.pick(3)], sems+x)
		} else {
			m.emit(a, trace.OpSemTrywait, sems+x, result(-1))
		}
	case 21, 22: // barrier
		if !sleeps {
			return
		}
		b := barriers + x
		m.arrivals[b]++
		n := m.arrivals[b]
		m.emit(a, trace.OpBarrierWait, b, value(uint64(n)))
		a.asleep, a.object = trace.OpBarrierLeave, b
		if n == barrierSize {
			m.arrivals[b] = 0
			for _, other := range m.threads {
				if other.asleep == trace.OpBarrierLeave && other.object == b {
					other.ready = true
				}
			}
		}
	case 23: // once
		o := onces + x
		switch m.once[o] {
		case 0:
			m.once[o] = 1
			a.runs = append(a.runs, o)
			m.emit(a, trace.OpOnceBegin, o, value(1))
		case 1:
			if i := slices.Index(a.runs, o); i >= 0 {
				m.once[o] = 2
				m.emit(a, trace.OpOnceEnd, o)
			}
		default:
			m.emit(a, trace.OpOnceBegin, o)
		}
	case 24: // a new object at an old address
		switch m.pick(4) {
		case 0:
			m.sem[sems+x] = 1
			m.emit(a, trace.OpSemInit, sems+x)
		case 1:
			if m.mutex[mutexes+x] == 0 {
				m.emit(a, trace.OpMutexInit, mutexes+x)
			}
		case 2:
			if l := rwlocks + x; m.writer[l] == 0 && len(m.readers[l]) == 0 {
				m.emit(a, trace.OpRwlockDestroy, l)
			}
		case 3:
			m.emit(a, trace.OpSemDestroy, sems+x, result(-1))
		}
	case 37: // a thread is cancelled, and acts on it now or later
		b := m.threads[m.pick(len(m.threads))]
		if b.started && !b.ended && b != a {
			b.cancelled = true
			m.emit(a, trace.OpCancel, cancels+trace.Object(b.id), value(uint64(b.id)))
		}
	case 38:
		if a.cancelled {
			m.emit(a, trace.OpCancelTest, cancels+trace.Object(a.id), result(ops.Cancelled))
		} else {
			m.emit(a, trace.OpCancelTest, cancels+trace.Object(a.id))
		}
	case 25, 26, 27, 28, 29:
		op := []trace.Op{trace.OpAtomicLoad, trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpAtomicCas, trace.OpAtomicFence}[m.pick(6)]
		mo := orders[m.pick(len(orders))]
		at, size := atomics+x, uint32(0)
		if m.pick(2) == 0 { // of several sizes, in 16 bytes
			size = 1 << m.pick(5)
			at = mixed + trace.Object(uint32(m.pick(int(16/size)))*size)
		}
		sized := func(e *trace.Event) { e.Size = size }
		switch op {
		case trace.OpAtomicFence:
			m.emit(a, op, 0, order(mo))
		case trace.OpAtomicCas:
			m.emit(a, op, at, order(mo), sized, result(int32(m.pick(2))))
		default:
			m.emit(a, op, at, order(mo), sized)
		}
	case 30, 31, 32, 33: // of Go's race detector, at the addresses of atomics
		op := []trace.Op{trace.OpAcquire, trace.OpRelease, trace.OpReleaseMerge, trace.OpReleaseAcquire}[m.pick(4)]
		m.emit(a, op, atomics+x)
	case 34:
		if len(m.threads) < 9 {
			child := &actor{id: len(m.threads), rw: map[trace.Object]bool{}, joined: true} // goroutines never are
			m.threads = append(m.threads, child)
			m.emit(a, trace.OpGo, mutexes+x, value(uint64(child.id)))
		}
	case 35, 36: // operations that order nothing on their own, at addresses of others that do
		op := []trace.Op{
			trace.OpChanSend, trace.OpChanRecv, trace.OpChanClose, trace.OpSelect, trace.OpSelectCase, trace.OpResume,
			trace.OpGmutexLock, trace.OpGmutexUnlock, trace.OpRwRlock, trace.OpRwRunlock, trace.OpWgAdd, trace.OpWgWait,
			trace.OpOnceDo, trace.OpGcondWait, trace.OpGcondSignal, trace.OpPoolGet, trace.OpPoolPut, trace.OpTimerFire, trace.OpExternal,
		}[m.pick(19)]
		o := []trace.Object{mutexes, rwlocks, conds, sems, atomics}[m.pick(5)] + x
		m.emit(a, op, o, value(uint64(m.pick(3))), aux(uint64(mutexes+x)))
	}
}

// show is an execution as text, for failing tests.
func show(events []trace.Event) string {
	s := ""
	for i, e := range events {
		s += fmt.Sprintf("%3d T%d %v object=%d aux=%d value=%d result=%d order=%d\n",
			i, e.Thread, e.Op, e.Object, e.Aux, e.Value, e.Result, e.Flags>>orderShift&7)
	}
	return s
}
