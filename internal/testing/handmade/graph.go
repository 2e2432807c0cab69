package handmade

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The graph has a node for each state of a program in which all threads stand before an operation, and an
// edge for each operation that is possible there. Memory is sequentially consistent, a condition variable
// or a futex wakes any of its waiters and none without need, and a deadline passes at any time. Such
// a graph is finite if the program's variables are bounded.
//
// Threads are scheduled fairly, so a program ends in an end or in a component of the graph that nothing
// leaves. Such a component is what it means not to end: under no continuation does the program get out of it.

// Truth says how the executions of a program may end.
type Truth struct {
	States int
	Ends   bool // some execution ends as it should
	Failed bool // a check fails in some execution

	// Kinds of component that can be reached and have no exit: of one state in which no thread can do
	// anything; of states that differ only in where threads stand, in locks, and in values that the
	// same thread puts back before it looks again; and others.
	Deadlock, Hang, Livelock bool
}

// Correct reports whether all fair executions end as they should.
func (t Truth) Correct() bool { return !t.Failed && !t.Deadlock && !t.Hang && !t.Livelock }

// ErrTooLarge is returned for a graph with too many states.
var ErrTooLarge = errors.New("too many states")

// Phases of a thread. One that waits has its operation pending until another thread wakes it.
const (
	unborn int16 = iota
	running
	waiting
	woken
	ended
)

// state of a program, as words: for each object its value, of a mutex the holder's number + 1; whether
// the deadline has passed; for each thread its phase, its pc and its registers.
type state []int32

type graph struct {
	p       *compiled
	threads int // main included, which is thread 0
	starts  []int
	late    int // index of the deadline
	uses    bool
	seen    map[string]int32
	states  []state
	edges   [][]edge
	finals  []final
	limit   int
}

type final uint8

const (
	goesOn final = iota
	endsWell
	checkFails
)

type edge struct {
	to     int32
	thread int16
}

// newGraph prepares a program with so many workers.
func newGraph(p *compiled, workers, limit int) *graph {
	g := &graph{p: p, threads: workers + 1, seen: map[string]int32{}, limit: limit, late: len(p.objects)}
	at := g.late + 1
	for i := range g.threads {
		g.starts = append(g.starts, at)
		at += 2 + g.code(i).registers
	}
	for _, c := range []code{p.body, p.worker} {
		for _, i := range c.instrs {
			g.uses = g.uses || i.op == opLate
		}
	}
	first := make(state, at)
	for i, o := range p.objects {
		first[i] = int32(o.init)
	}
	first[g.starts[0]] = int32(running)
	g.rest(first, 0)
	for i := 1; i < g.threads; i++ {
		first[g.starts[i]+2] = int32(i - 1)
	}
	g.add(first)
	return g
}

func (g *graph) code(thread int) *code {
	if thread == 0 {
		return &g.p.body
	}
	return &g.p.worker
}

func (g *graph) phase(s state, t int) int16        { return int16(s[g.starts[t]]) }
func (g *graph) setPhase(s state, t int, ph int16) { s[g.starts[t]] = int32(ph) }
func (g *graph) pending(s state, t int) *instr     { return &g.code(t).instrs[s[g.starts[t]+1]] }
func (g *graph) registers(s state, t int) []int32 {
	n := g.starts[t] + 2
	return s[n : n+g.code(t).registers]
}
func (g *graph) object(s state, t int, i *instr) int {
	if i.index < 0 {
		return i.base
	}
	k := int(g.registers(s, t)[i.index])
	if k < 0 || k >= i.size {
		panic("handmade: an index out of range")
	}
	return i.base + k
}

// rest runs the thread's own instructions up to its next operation.
func (g *graph) rest(s state, t int) {
	pc := g.code(t).local(int(s[g.starts[t]+1]), g.registers(s, t))
	s[g.starts[t]+1] = int32(pc)
	if t > 0 && g.code(t).instrs[pc].op == opEnd {
		g.setPhase(s, t, ended)
		s[g.starts[t]+1] = 0
		clear(g.registers(s, t))
	}
}

// add returns the number of a state.
func (g *graph) add(s state) int32 {
	key := make([]byte, 0, len(s)+8)
	for _, v := range s {
		key = binary.AppendVarint(key, int64(v))
	}
	if n, ok := g.seen[string(key)]; ok {
		return n
	}
	n := int32(len(g.states))
	g.seen[string(key)] = n
	g.states = append(g.states, s)
	g.edges = append(g.edges, nil)
	f := goesOn
	for t := range g.threads {
		if ph := g.phase(s, t); ph != unborn && ph != ended && g.pending(s, t).op == opCheck {
			f = checkFails
		}
	}
	if f == goesOn && g.pending(s, 0).op == opEnd {
		f = endsWell
	}
	g.finals = append(g.finals, f)
	return n
}

// explore makes the whole graph.
func (g *graph) explore() error {
	for n := 0; n < len(g.states); n++ {
		if n > g.limit {
			return ErrTooLarge
		}
		if g.finals[n] != goesOn {
			continue
		}
		s := g.states[n]
		for t := range g.threads {
			g.steps(s, t, func(to state) {
				g.edges[n] = append(g.edges[n], edge{g.add(to), int16(t)})
			})
		}
		if g.uses && s[g.late] == 0 {
			to := slices.Clone(s)
			to[g.late] = 1
			g.edges[n] = append(g.edges[n], edge{g.add(to), int16(g.threads)})
		}
	}
	return nil
}

// steps calls add with each state that an operation of t leads to.
func (g *graph) steps(s state, t int, add func(state)) {
	ph := g.phase(s, t)
	if ph != running && ph != woken {
		return
	}
	i := g.pending(s, t)
	if ph == woken && i.op == opWait && s[i.base2] != 0 {
		return
	}
	if i.op == opLock && s[g.object(s, t, i)] != 0 {
		return
	}
	if i.op == opFinish {
		for u := 1; u < g.threads; u++ {
			if g.phase(s, u) != ended {
				return
			}
		}
	}
	to := slices.Clone(s)
	r := g.registers(to, t)
	goOn := func(to state) {
		to[g.starts[t]+1]++
		g.rest(to, t)
		add(to)
	}
	// wakes lets waiters for an object, of an operation, go on: one of them or all.
	wakes := func(op opcode, object int, all bool) {
		var sleepers []int
		for u := range g.threads {
			if g.phase(s, u) == waiting {
				if w := g.pending(s, u); w.op == op && g.object(s, u, w) == object {
					sleepers = append(sleepers, u)
				}
			}
		}
		if all || len(sleepers) == 0 {
			for _, u := range sleepers {
				g.setPhase(to, u, woken)
			}
			goOn(to)
			return
		}
		for _, u := range sleepers {
			one := slices.Clone(to)
			g.setPhase(one, u, woken)
			goOn(one)
		}
	}
	switch i.op {
	case opLoad, opRead:
		r[i.dst] = to[g.object(s, t, i)]
	case opStore, opWrite:
		to[g.object(s, t, i)] = r[i.a]
	case opAdd:
		o := g.object(s, t, i)
		delta := r[i.a]
		r[i.dst] = to[o]
		to[o] += delta
	case opXchg:
		o := g.object(s, t, i)
		value := r[i.a]
		r[i.dst] = to[o]
		to[o] = value
	case opCas:
		o := g.object(s, t, i)
		old, value := r[i.a], r[i.b]
		r[i.dst] = truth(to[o] == old)
		if to[o] == old {
			to[o] = value
		}
	case opLock:
		to[g.object(s, t, i)] = int32(t + 1)
	case opTrylock:
		o := g.object(s, t, i)
		r[i.dst] = truth(to[o] == 0)
		if to[o] == 0 {
			to[o] = int32(t + 1)
		}
	case opUnlock:
		o := g.object(s, t, i)
		if to[o] != int32(t+1) {
			panic("handmade: unlock of a mutex that is not held")
		}
		to[o] = 0
	case opWait:
		if ph == running {
			if to[i.base2] != int32(t+1) {
				panic("handmade: wait without the mutex")
			}
			to[i.base2] = 0
			g.setPhase(to, t, waiting)
			add(to)
			return
		}
		to[i.base2] = int32(t + 1)
		g.setPhase(to, t, running)
	case opSleepWhile:
		if ph == running && to[g.object(s, t, i)] == r[i.a] {
			g.setPhase(to, t, waiting)
			add(to)
			return
		}
		g.setPhase(to, t, running)
	case opSignal, opBroadcast:
		wakes(opWait, g.object(s, t, i), i.op == opBroadcast)
		return
	case opWake:
		wakes(opSleepWhile, g.object(s, t, i), r[i.a] != 1)
		return
	case opLate:
		r[i.dst] = to[g.late]
	case opStart:
		for u := 1; u < g.threads; u++ {
			g.setPhase(to, u, running)
			g.rest(to, u)
		}
	}
	goOn(to)
}

// components returns the strongly connected components (Tarjan, SIAM J. Comput. 1(2), 1972), those that
// lead nowhere else first.
func (g *graph) components() (all [][]int32) {
	n := len(g.states)
	index, low := make([]int32, n), make([]int32, n)
	on := make([]bool, n)
	of := make([]int32, n)
	var stack []int32
	type frame struct {
		v    int32
		next int
	}
	counter := int32(0)
	var frames []frame
	visit := func(v int32) {
		counter++
		index[v], low[v] = counter, counter
		stack = append(stack, v)
		on[v] = true
		frames = append(frames, frame{v, 0})
	}
	visit(0)
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		v := f.v
		if f.next < len(g.edges[v]) {
			w := g.edges[v][f.next].to
			f.next++
			if index[w] == 0 {
				visit(w)
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
			continue
		}
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			u := frames[len(frames)-1].v
			low[u] = min(low[u], low[v])
		}
		if low[v] != index[v] {
			continue
		}
		var c []int32
		for {
			w := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			on[w] = false
			of[w] = int32(len(all))
			c = append(c, w)
			if w == v {
				break
			}
		}
		all = append(all, c)
	}
	return slices.DeleteFunc(all, func(c []int32) bool {
		return slices.ContainsFunc(c, func(v int32) bool {
			return slices.ContainsFunc(g.edges[v], func(e edge) bool { return of[e.to] != of[v] })
		})
	})
}

// truth examines the whole graph.
func (g *graph) truth() Truth {
	t := Truth{States: len(g.states)}
	for _, f := range g.finals {
		t.Ends = t.Ends || f == endsWell
		t.Failed = t.Failed || f == checkFails
	}
	for _, c := range g.components() {
		switch {
		case g.finals[c[0]] != goesOn:
		case len(g.edges[c[0]]) == 0:
			t.Deadlock = true
		case g.changes(c):
			t.Livelock = true
		default:
			t.Hang = true
		}
	}
	return t
}

// changes reports whether threads tell each other anything new in a component: whether one reads a
// variable that another one changes there.
func (g *graph) changes(c []int32) bool {
	type mark struct{ reader, writer uint32 } // sets of threads
	marks := make([]mark, len(g.p.objects))
	for _, v := range c {
		s := g.states[v]
		for _, e := range g.edges[v] {
			if int(e.thread) >= g.threads {
				continue
			}
			i := g.pending(s, int(e.thread))
			bit := uint32(1) << e.thread
			switch i.op {
			case opLoad, opRead, opCas, opAdd, opXchg, opSleepWhile:
				marks[g.object(s, int(e.thread), i)].reader |= bit
			}
			switch i.op {
			case opStore, opWrite, opCas, opAdd, opXchg:
				if o := g.object(s, int(e.thread), i); g.states[e.to][o] != s[o] {
					marks[o].writer |= bit
				}
			}
		}
	}
	for _, m := range marks {
		if m.writer != 0 && m.reader&^m.writer != 0 || m.writer&(m.writer-1) != 0 {
			return true
		}
	}
	return false
}
