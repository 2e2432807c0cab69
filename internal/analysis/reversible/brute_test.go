package reversible

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// The reference of these tests: a machine of its own, which runs random programs to make traces, and
// runs the events of a trace in every order.

// instruction is an operation of a random program on object number n.
type instruction struct {
	op trace.Op
	n  int
}

// Objects of the random programs, by kind.
const (
	variables = 0x1000
	mutexes   = 0x2000
	rwlocks   = 0x3000
	sems      = 0x4000
	barriers  = 0x5000
	conds     = 0x6000
	onces     = 0x7000
)

func object(kind, n int) trace.Object {
	return trace.MakeObject(trace.RegionGlobal, 0, uint64(kind+64*n))
}

// generate makes a random program of a few threads for the machine.
func generate(r *rand.Rand, threads, length int) [][]instruction {
	progs := make([][]instruction, threads)
	kinds := r.IntN(1 << 6) // of operations that the program uses
	shared := 1 + r.IntN(12)
	for t := range progs {
		if t > 0 {
			progs[t] = append(progs[t], instruction{trace.OpThreadStart, 0})
		}
		at := len(progs[t])
		add := func(list ...instruction) {
			for _, in := range list {
				progs[t] = slices.Insert(progs[t], at, in)
				at++
			}
		}
		for range 1 + r.IntN(length) {
			n := r.IntN(2)
			sem := r.IntN(5) / 4 // mostly the one whose count begins with 0
			access := instruction{[]trace.Op{trace.OpRead, trace.OpWrite, trace.OpAtomicRmw}[r.IntN(3)], 3 + t}
			if r.IntN(12) < shared {
				access.n = r.IntN(3)
			}
			switch k := r.IntN(9); {
			case k == 0 && kinds&1 != 0:
				add(instruction{trace.OpMutexLock, n})
				add(access)
				if r.IntN(3) == 0 {
					add(instruction{trace.OpRead, r.IntN(3)})
				}
				add(instruction{trace.OpMutexUnlock, n})
			case k == 1 && kinds&1 != 0: // crosswise
				add(instruction{trace.OpMutexLock, 0}, instruction{trace.OpMutexLock, 1}, instruction{trace.OpMutexUnlock, n}, access, instruction{trace.OpMutexUnlock, 1 - n})
			case k == 8 && kinds&5 != 0:
				add(instruction{trace.OpMutexLock, n}, instruction{trace.OpSemPost, 0}, access, instruction{trace.OpMutexUnlock, n})
			case k == 2 && kinds&2 != 0:
				lock := []trace.Op{trace.OpRwlockRdlock, trace.OpRwlockWrlock}[r.IntN(2)]
				add(instruction{lock, 0}, access, instruction{trace.OpRwlockUnlock, 0})
			case k == 3 && kinds&4 != 0:
				add(instruction{[]trace.Op{trace.OpSemPost, trace.OpSemPost, trace.OpSemWait, trace.OpSemWait, trace.OpSemTrywait}[r.IntN(4+kinds>>5)], sem})
			case k == 4 && kinds&8 != 0:
				add(instruction{trace.OpMutexTrylock, n})
			case k == 5 && kinds&16 != 0:
				add(instruction{trace.OpOnceBegin, 0})
			case k == 6 && kinds&16 != 0:
				add(instruction{trace.OpBarrierWait, 0}, instruction{trace.OpBarrierLeave, 0})
			case k == 7 && kinds&8 != 0:
				add(instruction{trace.OpMutexLock, 0})
				if t%2 == 0 {
					add(instruction{[]trace.Op{trace.OpCondSignal, trace.OpCondBroadcast}[n], 0})
				} else {
					add(instruction{trace.OpCondWait, 0}, instruction{trace.OpCondWake, 0})
				}
				add(instruction{trace.OpMutexUnlock, 0})
			default:
				add(access)
			}
		}
		if t > 0 {
			progs[t] = append(progs[t], instruction{trace.OpThreadEnd, 0})
		} else {
			for u := 1; u < threads; u++ {
				progs[0] = slices.Insert(progs[0], r.IntN(len(progs[0])+1), instruction{trace.OpThreadCreate, u})
			}
			for u := 1; u < threads; u++ {
				progs[0] = append(progs[0], instruction{trace.OpThreadJoin, u})
				if r.IntN(3) == 0 {
					progs[0] = append(progs[0], access(r))
				}
			}
			progs[0] = append(progs[0], instruction{trace.OpProcessExit, 0})
		}
	}
	return progs
}

// contend makes a random program whose threads are created while main is in the middle of something, and
// compete for semaphores and locks: most of what orders its accesses are these.
func contend(r *rand.Rand, threads int) [][]instruction {
	progs := make([][]instruction, threads)
	created := 1
	for t := range progs {
		var prog []instruction
		if t > 0 {
			prog = append(prog, instruction{trace.OpThreadStart, 0})
		}
		inside := func() (list []instruction) {
			for t == 0 && created < threads && r.IntN(3) > 0 {
				list = append(list, instruction{trace.OpThreadCreate, created})
				created++
			}
			in := access(r)
			if in.n = r.IntN(2); r.IntN(3) == 0 {
				in.n = 3 + t
			}
			return append(list, in)
		}
		for range 1 + r.IntN(2) {
			n := r.IntN(2)
			down, up := instruction{trace.OpSemWait, n}, instruction{trace.OpSemPost, n}
			a, b := instruction{trace.OpMutexLock, n}, instruction{trace.OpMutexLock, 1 - n}
			endA, endB := instruction{trace.OpMutexUnlock, n}, instruction{trace.OpMutexUnlock, 1 - n}
			var before, after []instruction
			switch r.IntN(7) {
			case 0:
				before, after = []instruction{down}, []instruction{up}
			case 1:
				before, after = []instruction{a, down}, []instruction{up, endA}
			case 2:
				before, after = []instruction{a, b, endA}, []instruction{endB}
			case 3:
				before, after = []instruction{a}, []instruction{b, endA, endB}
			case 4:
				before, after = []instruction{a}, []instruction{endA}
			case 5:
				before = []instruction{up}
			case 6:
				before, after = []instruction{a, down}, []instruction{endA}
			}
			prog = slices.Concat(prog, before, inside(), after)
		}
		if t > 0 {
			prog = append(prog, instruction{trace.OpThreadEnd, 0})
		} else {
			for ; created < threads; created++ {
				prog = append(prog, instruction{trace.OpThreadCreate, created})
			}
			for u := 1; u < threads; u++ {
				prog = append(prog, instruction{trace.OpThreadJoin, u})
			}
			prog = append(prog, instruction{trace.OpProcessExit, 0})
		}
		progs[t] = prog
	}
	return progs
}

func access(r *rand.Rand) instruction {
	return instruction{[]trace.Op{trace.OpRead, trace.OpWrite}[r.IntN(2)], r.IntN(3)}
}

// machine is the reference's state.
type machine struct {
	started, ended []bool
	writer         map[trace.Object]int // event that wrote last, plus 1
	owner          map[trace.Object]int // thread that holds it alone, plus 1
	readers        map[trace.Object]map[int]bool
	count          map[trace.Object]int
	arrived        map[trace.Object][]int
	released       map[int]bool // thread may leave its barrier
	queue          map[trace.Object][]int
	waker          map[int]int // thread → event that woke it, plus 1
	once           map[trace.Object]int
	over           bool
}

const generation = 2 // threads at the barrier

func newMachine(threads int) *machine {
	m := &machine{make([]bool, threads), make([]bool, threads), map[trace.Object]int{}, map[trace.Object]int{}, map[trace.Object]map[int]bool{}, map[trace.Object]int{}, map[trace.Object][]int{}, map[int]bool{}, map[trace.Object][]int{}, map[int]int{}, map[trace.Object]int{}, false}
	m.started[0] = true
	for n := range 2 {
		m.count[object(sems, n)] = n
	}
	return m
}

// ready reports whether thread t can do what ev does.
func (m *machine) ready(ev *trace.Event) bool {
	t := int(ev.Thread)
	if m.over || !m.started[t] || m.ended[t] {
		return false
	}
	free := func(o trace.Object) bool { return m.owner[o] == 0 && len(m.readers[o]) == 0 }
	switch ev.Op {
	case trace.OpThreadJoin:
		return m.ended[ev.Value]
	case trace.OpMutexLock, trace.OpRwlockWrlock:
		return free(ev.Object)
	case trace.OpRwlockRdlock:
		return m.owner[ev.Object] == 0
	case trace.OpSemWait:
		return m.count[ev.Object] > 0
	case trace.OpBarrierLeave:
		return m.released[t]
	case trace.OpCondWake:
		return m.waker[t] != 0 && free(trace.Object(ev.Aux))
	case trace.OpOnceBegin:
		return m.once[ev.Object] != 1
	}
	return true
}

// outcome is what an event shows to its thread.
type outcome struct {
	reads  int
	result int32
	value  uint64
}

// perform does an event, number id, and returns what it shows.
func (m *machine) perform(ev *trace.Event, id int) (out outcome) {
	t := int(ev.Thread)
	o := ev.Object
	switch ev.Op {
	case trace.OpThreadCreate:
		m.started[ev.Value] = true
	case trace.OpThreadEnd:
		m.ended[t] = true
	case trace.OpProcessExit:
		m.over = true
	case trace.OpRead:
		out.reads = m.writer[o]
	case trace.OpWrite:
		m.writer[o] = id + 1
	case trace.OpAtomicRmw:
		out.reads = m.writer[o]
		m.writer[o] = id + 1
	case trace.OpMutexLock, trace.OpRwlockWrlock:
		m.owner[o] = t + 1
	case trace.OpMutexTrylock:
		if m.owner[o] != 0 {
			out.result = 16
		} else {
			m.owner[o] = t + 1
		}
	case trace.OpRwlockRdlock:
		if m.readers[o] == nil {
			m.readers[o] = map[int]bool{}
		}
		m.readers[o][t] = true
	case trace.OpMutexUnlock, trace.OpRwlockUnlock:
		if m.owner[o] == t+1 {
			m.owner[o] = 0
		} else {
			delete(m.readers[o], t)
		}
	case trace.OpSemPost:
		m.count[o]++
		out.value = uint64(m.count[o])
	case trace.OpSemWait:
		m.count[o]--
		out.value = uint64(m.count[o])
	case trace.OpSemTrywait:
		if m.count[o] == 0 {
			out.result = 11
		} else {
			m.count[o]--
		}
	case trace.OpBarrierWait:
		m.released[t] = false
		m.arrived[o] = append(m.arrived[o], t)
		out.value = uint64(len(m.arrived[o]))
		if len(m.arrived[o]) == generation {
			for _, u := range m.arrived[o] {
				m.released[u] = true
			}
			m.arrived[o] = nil
		}
	case trace.OpCondWait:
		m.owner[trace.Object(ev.Aux)] = 0
		m.queue[o] = append(m.queue[o], t)
		m.waker[t] = 0
	case trace.OpCondWake:
		out.reads = m.waker[t]
		m.owner[trace.Object(ev.Aux)] = t + 1
	case trace.OpCondSignal:
		if q := m.queue[o]; len(q) > 0 {
			out.value = uint64(q[0]) + 1
			m.waker[q[0]] = id + 1
			m.queue[o] = slices.Clone(q[1:])
		}
	case trace.OpCondBroadcast:
		out.value = uint64(len(m.queue[o]))
		for _, u := range m.queue[o] {
			m.waker[u] = id + 1
		}
		m.queue[o] = nil
	case trace.OpOnceBegin:
		if m.once[o] == 0 {
			m.once[o] = 1
			out.value = 1
		}
	case trace.OpOnceEnd:
		m.once[o] = 2
	}
	return out
}

// record runs a program under a random schedule.
func record(r *rand.Rand, progs [][]instruction) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Target: "c", Instrumented: true}}
	m := newMachine(len(progs))
	kinds := map[trace.Op]int{
		trace.OpRead: variables, trace.OpWrite: variables, trace.OpAtomicRmw: variables,
		trace.OpMutexLock: mutexes, trace.OpMutexTrylock: mutexes, trace.OpMutexUnlock: mutexes,
		trace.OpRwlockRdlock: rwlocks, trace.OpRwlockWrlock: rwlocks, trace.OpRwlockUnlock: rwlocks,
		trace.OpSemPost: sems, trace.OpSemWait: sems, trace.OpSemTrywait: sems,
		trace.OpBarrierWait: barriers, trace.OpBarrierLeave: barriers,
		trace.OpCondWait: conds, trace.OpCondWake: conds, trace.OpCondSignal: conds, trace.OpCondBroadcast: conds,
		trace.OpOnceBegin: onces, trace.OpOnceEnd: onces,
	}
	rest := make([][]instruction, len(progs))
	copy(rest, progs)
	t.Events = append(t.Events, trace.Event{Op: trace.OpBarrierInit, Object: object(barriers, 0), Value: generation})
	for n := range 2 {
		t.Events = append(t.Events, trace.Event{Op: trace.OpSemInit, Object: object(sems, n), Value: uint64(n)})
	}
	for {
		var ready []trace.Event
		for u, list := range rest {
			if len(list) == 0 {
				continue
			}
			ev := trace.Event{Thread: trace.ThreadID(u), Op: list[0].op}
			if kind, ok := kinds[ev.Op]; ok {
				ev.Object = object(kind, list[0].n)
			}
			switch ev.Op {
			case trace.OpThreadCreate, trace.OpThreadJoin:
				ev.Value = uint64(list[0].n)
			case trace.OpRead, trace.OpWrite, trace.OpAtomicRmw:
				ev.Size = 4
			case trace.OpCondWait, trace.OpCondWake:
				ev.Aux = uint64(object(mutexes, 0))
			}
			if m.ready(&ev) {
				ready = append(ready, ev)
			}
		}
		if len(ready) == 0 {
			return t
		}
		ev := ready[r.IntN(len(ready))]
		u := int(ev.Thread)
		n := rest[u][0].n
		rest[u] = rest[u][1:]
		out := m.perform(&ev, len(t.Events))
		ev.Result = out.result
		switch ev.Op {
		case trace.OpThreadCreate, trace.OpThreadJoin:
		default:
			ev.Value = out.value
		}
		t.Events = append(t.Events, ev)
		switch {
		case ev.Op == trace.OpMutexTrylock && ev.Result == 0:
			rest[u] = append([]instruction{{trace.OpMutexUnlock, n}}, rest[u]...)
		case ev.Op == trace.OpOnceBegin && ev.Value == 1:
			rest[u] = append([]instruction{{trace.OpWrite, 0}, {trace.OpOnceEnd, 0}}, rest[u]...)
		}
	}
}

// results runs a trace's events in their order, and returns what each showed.
func results(t *trace.Trace, threads int) []outcome {
	m := newMachine(threads)
	out := make([]outcome, len(t.Events))
	for i := range t.Events {
		out[i] = m.perform(&t.Events[i], i)
	}
	return out
}

// shown is what counts of an outcome: not the counts of semaphores and barriers.
func shown(ev *trace.Event, o outcome) outcome {
	switch ev.Op {
	case trace.OpSemPost, trace.OpSemWait, trace.OpBarrierWait:
		o.value = 0
	}
	return o
}

// dependent is the package comment's definition for the machine's operations.
func dependent(t *trace.Trace, threads int, a, b *trace.Event) bool {
	if a.Thread == b.Thread {
		return false
	}
	for range 2 {
		if a.Op == trace.OpProcessExit {
			switch b.Op {
			case trace.OpThreadStart, trace.OpThreadEnd:
				return false
			}
			return true
		}
		a, b = b, a
	}
	mutexOf := func(ev *trace.Event) trace.Object {
		switch ev.Op {
		case trace.OpCondWait, trace.OpCondWake:
			return trace.Object(ev.Aux)
		}
		return ev.Object
	}
	for range 2 {
		if a.Op == trace.OpMutexTrylock && mutexOf(b) == a.Object {
			return true
		}
		a, b = b, a
	}
	if a.Object != b.Object || a.Object == 0 {
		return false
	}
	either := func(op trace.Op) bool { return a.Op == op || b.Op == op }
	switch int(a.Object.Offset()) &^ 0xfff {
	case variables:
		return a.Op != trace.OpRead || b.Op != trace.OpRead
	case sems:
		return either(trace.OpSemTrywait) || either(trace.OpSemInit)
	case barriers:
		users := map[trace.ThreadID]bool{}
		for i := range t.Events {
			if t.Events[i].Op == trace.OpBarrierWait {
				users[t.Events[i].Thread] = true
			}
		}
		return either(trace.OpBarrierInit) || a.Op == trace.OpBarrierWait && b.Op == a.Op && len(users) != generation
	case conds:
		if either(trace.OpCondWake) {
			return false
		}
		signals := slices.ContainsFunc(t.Events, func(ev trace.Event) bool { return ev.Op == trace.OpCondSignal })
		return a.Op != trace.OpCondWait || b.Op != a.Op || signals
	case onces:
		return a.Op == trace.OpOnceBegin && b.Op == a.Op && a.Value+b.Value > 0
	}
	return false
}

// brute looks for a reversal in all feasible reorderings of a trace.
type brute struct {
	t       *trace.Trace
	threads int
	of      [][]int
	want    []outcome
	seen    map[string]bool
	dep     [][]int // of each event, the earlier ones that it depends on
}

func newBrute(t *trace.Trace, threads int) *brute {
	b := &brute{t, threads, make([][]int, threads), results(t, threads), map[string]bool{}, make([][]int, len(t.Events))}
	for i := range t.Events {
		u := t.Events[i].Thread
		b.of[u] = append(b.of[u], i)
		for j := range i {
			if dependent(t, threads, &t.Events[j], &t.Events[i]) {
				b.dep[i] = append(b.dep[i], j)
			}
		}
	}
	return b
}

// replay runs events in an order. It fails if one but the last cannot, or shows something else.
func (b *brute) replay(order []int) (*machine, []int, error) {
	m := newMachine(b.threads)
	cut := make([]int, b.threads)
	for k, e := range order {
		ev := &b.t.Events[e]
		u := int(ev.Thread)
		if cut[u] >= len(b.of[u]) || b.of[u][cut[u]] != e {
			return nil, nil, fmt.Errorf("place %d: event %d is not its thread's next", k, e)
		}
		if !m.ready(ev) {
			return nil, nil, fmt.Errorf("place %d: event %d blocks", k, e)
		}
		out := m.perform(ev, e)
		cut[u]++
		if k < len(order)-1 && shown(ev, out) != shown(ev, b.want[e]) {
			return nil, nil, fmt.Errorf("place %d: event %d shows %v, showed %v", k, e, out, b.want[e])
		}
	}
	return m, cut, nil
}

// reverses returns an order that reverses a pair, or nil.
func (b *brute) reverses(order []int) []int {
	m, cut, err := b.replay(order)
	if err != nil {
		return nil
	}
	for u := range cut {
		if cut[u] == len(b.of[u]) {
			continue
		}
		e := b.of[u][cut[u]]
		if !m.ready(&b.t.Events[e]) {
			continue
		}
		for _, d := range b.dep[e] {
			if !slices.Contains(order, d) {
				return append(slices.Clone(order), e)
			}
		}
	}
	for u := range cut {
		if cut[u] == len(b.of[u]) {
			continue
		}
		next := append(slices.Clone(order), b.of[u][cut[u]])
		n, after, err := b.replay(next)
		if err != nil {
			continue
		}
		ev := &b.t.Events[next[len(next)-1]]
		// replay does not compare the last event's outcome.
		probe, _, _ := b.replay(order)
		if e := next[len(next)-1]; shown(ev, probe.perform(ev, e)) != shown(ev, b.want[e]) {
			continue
		}
		key := fmt.Sprint(after, n.writer, n.queue, n.waker, n.owner, n.arrived, n.released)
		if b.seen[key] {
			continue
		}
		b.seen[key] = true
		if found := b.reverses(next); found != nil {
			return found
		}
	}
	return nil
}

// stuck reports whether no thread can go on after an order, although one has events left.
func (b *brute) stuck(order []int) bool {
	m, cut, err := b.replay(order)
	if err != nil {
		return false
	}
	left := false
	for u := range cut {
		if cut[u] == len(b.of[u]) {
			continue
		}
		left = true
		if m.ready(&b.t.Events[b.of[u][cut[u]]]) {
			return false
		}
	}
	return left
}

// deadlocks returns an order after which no thread can go on, or nil. No pair may be reversible.
func (b *brute) deadlocks(order []int) []int {
	m, cut, err := b.replay(order)
	if err != nil {
		return nil
	}
	if b.stuck(order) {
		return order
	}
	for u := range cut {
		if cut[u] == len(b.of[u]) || !m.ready(&b.t.Events[b.of[u][cut[u]]]) {
			continue
		}
		next := append(slices.Clone(order), b.of[u][cut[u]])
		cut[u]++
		key := fmt.Sprint(cut)
		cut[u]--
		if b.seen[key] {
			continue
		}
		b.seen[key] = true
		if found := b.deadlocks(next); found != nil {
			return found
		}
	}
	return nil
}
