// Package synthetic makes traces of any length from a few parameters, to measure static
// simplification on: threads that enter critical sections and access private and shared
// variables at random.
package synthetic

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/heddle-dev/heddle/trace"
)

// Workload describes a trace. Defaults replaces zero values.
type Workload struct {
	Seed    uint64
	Events  int // approximate; thread creations, ends and joins are added
	Threads int // without the main thread, which only creates and joins
	Locks   int
	Vars    int // shared variables, for each lock and outside of locks
	// Conflict is the chance that an access is of a shared variable, Write that it
	// writes, Section that a thread enters a critical section instead of an access.
	Conflict, Write, Section float64
	// Length is how many accesses a critical section has.
	Length int
	// Stay is the chance that the running thread continues.
	Stay float64
}

// Defaults fills in what was not given: eight threads that share a twentieth of their
// accesses and are switched after every other event.
func (l Workload) Defaults() Workload {
	def := func(x *float64, to float64) {
		if *x == 0 {
			*x = to
		}
	}
	num := func(x *int, to int) {
		if *x == 0 {
			*x = to
		}
	}
	num(&l.Events, 10000)
	num(&l.Threads, 8)
	num(&l.Locks, l.Threads)
	num(&l.Vars, 64)
	num(&l.Length, 4)
	def(&l.Conflict, 0.05)
	def(&l.Write, 0.3)
	def(&l.Section, 0.02)
	def(&l.Stay, 0.5)
	return l
}

// Check reports a field that cannot be.
func (l Workload) Check() error {
	for _, p := range []struct {
		name string
		v    float64
	}{{"conflict", l.Conflict}, {"write", l.Write}, {"section", l.Section}, {"stay", l.Stay}} {
		if p.v < 0 || p.v > 1 {
			return fmt.Errorf("%s is %v: want a probability from 0 to 1", p.name, p.v)
		}
	}
	switch {
	case l.Events < 0 || l.Threads < 0 || l.Locks < 0 || l.Vars < 0 || l.Length < 0:
		return fmt.Errorf("the numbers of events, threads, locks, variables and accesses cannot be negative")
	case l.Threads > 4095:
		return fmt.Errorf("a trace has at most 4095 threads beside main, not %d", l.Threads)
	}
	return nil
}

// Where variables and locks are in the generated program's memory.
const (
	varsAt  = 0x1001000
	locksAt = 0x100000
)

func lockAt(n int) trace.Object {
	return trace.MakeObject(trace.RegionGlobal, 0, locksAt+64*uint64(n))
}

// worker is the state of a generated thread.
type worker struct {
	lock int // held, or -1
	left int // accesses left in the section
	want int // lock it waits for, or -1
}

// All yields the events, the same ones each time. The event yielded is reused.
func (l Workload) All() iter.Seq[*trace.Event] {
	l = l.Defaults()
	return func(yield func(*trace.Event) bool) {
		g := generator{Workload: l, r: rand.New(rand.NewPCG(l.Seed, 0x1a56e)), yield: yield,
			workers: make([]worker, l.Threads), holder: make([]int, l.Locks)}
		g.run()
	}
}

type generator struct {
	Workload
	r       *rand.Rand
	yield   func(*trace.Event) bool
	ev      trace.Event
	stopped bool
	workers []worker
	holder  []int // worker + 1
}

func (g *generator) emit(ev trace.Event) {
	if !g.stopped {
		g.ev = ev
		g.stopped = !g.yield(&g.ev)
	}
}

func (g *generator) run() {
	g.emit(trace.Event{Op: trace.OpThreadStart})
	for i := range g.workers {
		g.workers[i] = worker{lock: -1, want: -1}
		g.emit(trace.Event{Op: trace.OpThreadCreate, Value: uint64(i + 1)})
	}
	for i := range g.workers {
		g.emit(trace.Event{Thread: trace.ThreadID(i + 1), Op: trace.OpThreadStart})
	}
	w := 0
	for n := 0; n < g.Events && !g.stopped; n++ {
		if g.r.Float64() >= g.Stay {
			w = g.r.IntN(len(g.workers))
		}
		// Whoever waits hands over to whoever holds; a holder never waits.
		if x := &g.workers[w]; x.want >= 0 && g.holder[x.want] != 0 {
			w = g.holder[x.want] - 1
		}
		g.step(w)
	}
	for i := range g.workers {
		if x := &g.workers[i]; x.lock >= 0 {
			g.release(i)
		}
		g.emit(trace.Event{Thread: trace.ThreadID(i + 1), Op: trace.OpThreadEnd})
	}
	for i := range g.workers {
		g.emit(trace.Event{Op: trace.OpThreadJoin, Value: uint64(i + 1)})
	}
	g.emit(trace.Event{Op: trace.OpThreadEnd})
}

func (g *generator) release(w int) {
	x := &g.workers[w]
	g.emit(trace.Event{Thread: trace.ThreadID(w + 1), Op: trace.OpMutexUnlock, Object: lockAt(x.lock)})
	g.holder[x.lock] = 0
	x.lock = -1
}

func (g *generator) step(w int) {
	x := &g.workers[w]
	t := trace.ThreadID(w + 1)
	switch {
	case x.lock >= 0 && x.left == 0:
		g.release(w)
	case x.lock >= 0:
		x.left--
		g.access(t, 1+x.lock)
	case x.want < 0 && g.r.Float64() < g.Section:
		x.want = g.r.IntN(g.Locks)
		fallthrough
	case x.want >= 0:
		if g.holder[x.want] != 0 {
			g.access(t, -1) // it does something else until it has to wait
			return
		}
		g.holder[x.want] = w + 1
		x.lock, x.left, x.want = x.want, g.Length, -1
		g.emit(trace.Event{Thread: t, Op: trace.OpMutexLock, Object: lockAt(x.lock)})
	case g.r.Float64() < g.Conflict:
		g.access(t, 0)
	default:
		g.access(t, -1)
	}
}

// access is of a variable of a group, or one of the thread's own if that is negative.
func (g *generator) access(t trace.ThreadID, group int) {
	if group < 0 {
		group = g.Locks + int(t)
	}
	op := trace.OpRead
	if g.r.Float64() < g.Write {
		op = trace.OpWrite
	}
	n := uint64(group*g.Vars + g.r.IntN(g.Vars))
	g.emit(trace.Event{Thread: t, Op: op, Object: trace.MakeObject(trace.RegionGlobal, 0, varsAt+8*n), Size: 8})
}
