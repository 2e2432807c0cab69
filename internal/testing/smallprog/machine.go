package smallprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Simulated returns the program for the simulated machine.
func (p *Program) Simulated() simprog.Program {
	return simprog.Program{Name: p.String(), Main: func(main *simprog.Thread) {
		r := run{p: p, sem: main.Sem(int64(p.Count)), barrier: main.Barrier(p.Size), rw: main.RWLock(), once: main.Once()}
		for range words {
			r.words = append(r.words, main.Var(0))
		}
		for range mutexes {
			r.mutexes = append(r.mutexes, main.Mutex())
			r.conds = append(r.conds, main.Cond())
		}
		r.threads = make([]*simprog.Thread, len(p.Threads))
		r.notes = make([]string, len(p.Threads))
		r.body(0)(main)
		var b strings.Builder
		for t := range p.Threads {
			if t == 0 || r.joined[0][t] {
				fmt.Fprintf(&b, "%d:%s;", t, r.notes[t])
			}
		}
		main.Print(b.String())
	}}
}

// run is one execution on the simulated machine.
type run struct {
	p       *Program
	words   []*simprog.Word
	mutexes []*simprog.Mutex
	conds   []*simprog.Cond
	sem     *simprog.Sem
	barrier *simprog.Barrier
	rw      *simprog.RWLock
	once    *simprog.Once
	threads []*simprog.Thread
	notes   []string
	joined  [maxCount][maxCount]bool
}

func (r *run) body(me int) func(*simprog.Thread) {
	return func(t *simprog.Thread) {
		var held [mutexes]bool
		rw := false
		note := func(v int64) { r.notes[me] += fmt.Sprintf("%x,", v) }
		yes := func(b bool) bool {
			if b {
				note(1)
			} else {
				note(0)
			}
			return b
		}
		for n, i := range r.p.Threads[me] {
			o := i.Object
			at := func() *simprog.Thread { return t.At(trace.MakeSite(0, uint64(1000*(me+1)+10*n))) }
			switch i.Code {
			case Load:
				note(at().Load(r.words[o]))
			case Store:
				at().Store(r.words[o], int64(i.Value))
			case Add:
				note(at().Add(r.words[o], 1))
			case Swap:
				yes(at().CompareAndSwap(r.words[o], 0, int64(i.Value)))
			case Assert:
				if at().Load(r.words[o]) == int64(i.Value) {
					at().Assert(false, "")
				}
			case Lock:
				if !held[o] {
					at().Lock(r.mutexes[o])
					held[o] = true
				}
			case TryLock:
				if !held[o] {
					held[o] = yes(at().TryLock(r.mutexes[o]))
				}
			case Unlock:
				if held[o] {
					at().Unlock(r.mutexes[o])
					held[o] = false
				}
			case ReadLock:
				if !rw {
					at().ReadLock(r.rw)
					rw = true
				}
			case TryReadLock:
				if !rw {
					rw = yes(at().TryReadLock(r.rw))
				}
			case WriteLock:
				if !rw {
					at().WriteLock(r.rw)
					rw = true
				}
			case TryWriteLock:
				if !rw {
					rw = yes(at().TryWriteLock(r.rw))
				}
			case RWUnlock:
				if rw {
					at().RWUnlock(r.rw)
					rw = false
				}
			case Wait:
				if held[o] {
					at().Wait(r.conds[o], r.mutexes[o])
				}
			case Signal:
				at().Signal(r.conds[o])
			case Broadcast:
				at().Broadcast(r.conds[o])
			case Down:
				at().Down(r.sem)
			case TryDown:
				yes(at().TryDown(r.sem))
			case Up:
				at().Up(r.sem)
			case Count:
				note(at().Count(r.sem))
			case Arrive:
				yes(at().Arrive(r.barrier))
			case Once:
				at().Do(r.once, func() { at().Add(r.words[o], 4) })
			case Start:
				r.threads[i.Value] = at().Go(r.body(i.Value))
			case Join:
				if !r.joined[me][i.Value] {
					at().Join(r.threads[i.Value])
					r.joined[me][i.Value] = true
				}
			case TryJoin:
				if !r.joined[me][i.Value] {
					r.joined[me][i.Value] = yes(at().TryJoin(r.threads[i.Value]))
				}
			case Exit:
				at().Exit(3)
			}
		}
	}
}

// waits are the instructions in which threads wait, by what they wait for.
var waits = map[ops.Family]Code{
	ops.Mutex: Lock, ops.RWLock: WriteLock, ops.Condition: Wait, ops.Semaphore: Down, ops.Barrier: Arrive, ops.Once: Once,
	ops.Thread: Join, ops.Futex: FutexWait, ops.Descriptor: EventRead,
}

// Outcome is the outcome of an execution, as Enumerate names it.
func Outcome(o *schedule.Outcome) string {
	e := &o.Ending
	switch {
	case e.Kind == trace.Assertion || e.Kind == trace.Signal:
		return "assertion"
	case (e.Kind == trace.Clean || e.Kind == trace.Exit) && e.Status == 3:
		return "exit"
	case e.Kind == trace.Clean:
		return "clean " + strings.TrimSpace(string(e.Output))
	case e.Kind == trace.Deadlock:
		var in []string
		for _, w := range e.Waiters {
			c, ok := waits[ops.Of(w.Op).Of]
			if !ok {
				c = '?'
			}
			in = append(in, string(c))
		}
		slices.Sort(in)
		return "deadlock " + strings.Join(in, "")
	}
	return fmt.Sprintf("%v %s", e.Kind, e.Message)
}
