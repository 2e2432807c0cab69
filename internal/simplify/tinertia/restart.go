package tinertia

import (
	"container/heap"
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// restartBound is the most preemptions that a restarted execution is given: 0, 1, then
// 2. Musuvathi and Qadeer found that few bugs need more.
const restartBound = 2

// restart looks for the bug again, with fewer preemptions. Beyond the paper. It begins
// with the fair non-preemptive execution and takes executions apart into forced prefix
// and fair rest: at some place after the prefix another thread is chosen, and the fair
// scheduler goes on from there. Two kinds of places are tried:
//
//   - where the current execution switches: the same thread has just done the same
//     operation, and the thread that is chosen is the one that it switches to;
//   - where the fair scheduler had to choose, since the thread before could not go on.
//     Any other enabled thread is tried; that costs no preemption.
//
// Prefixes with the fewest preemptions, then switches, go first. This is iterative
// context bounding (Musuvathi and Qadeer, PLDI'07) over the few places that the current
// execution suggests, instead of all. Positions are not used.
func restart(q *sequence, _ int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		r := &restarts{q: q, switches: q.switchSet()}
		heap.Push(r, prefix{})
		for left := passLimit(len(q.teis)); left > 0 && r.Len() > 0; left-- {
			p := heap.Pop(r).(prefix)
			c := candidate{op: Restart, script: p.script, threads: p.threads, bound: unbounded}
			c.next = func(rejected *trace.Trace) []candidate {
				r.expand(p, rejected)
				return nil
			}
			if !yield(c) {
				return
			}
		}
	}
}

// prefix is the forced beginning of an execution.
type prefix struct {
	script      []schedule.Step
	threads     []trace.Thread // names for script, nil for those of the current execution
	preemptions int
	switches    int
	number      int // in order of creation: breaks ties
}

// place is a context switch named independently of the other threads' progress.
type place struct {
	from, to uint64 // threads
	op       trace.Op
	site     trace.Site // of from's last operation before the switch
}

func (q *sequence) switchSet() map[place]bool {
	set := map[place]bool{}
	for _, tei := range q.teis[1:] {
		last := &q.events[tei.Start-1]
		set[place{nameOf(q.trace.Threads, last.Thread), nameOf(q.trace.Threads, tei.Thread), last.Op, last.Site}] = true
	}
	return set
}

// restarts is the prefixes that are still to be executed, a heap.
type restarts struct {
	q        *sequence
	switches map[place]bool
	open     []prefix
	created  int
}

// expand adds the prefixes that differ from the execution t of p in one choice after p.
func (r *restarts) expand(p prefix, t *trace.Trace) {
	s := newSequence(t)
	bound := min(restartBound, r.q.cost.Preemptions)
	var c struct{ preemptions, switches int } // of s.events[:i]
	for i := 1; i < len(s.events); i++ {
		last, here := &s.events[i-1], &s.events[i]
		if i >= max(1, len(p.script)) {
			free := !here.Enabled.Has(last.Thread)
			for id := range s.trace.Threads {
				to := trace.ThreadID(id)
				if to == here.Thread || to == last.Thread || !here.Enabled.Has(to) {
					continue
				}
				if !free && !r.switches[place{nameOf(t.Threads, last.Thread), nameOf(t.Threads, to), last.Op, last.Site}] {
					continue
				}
				n := prefix{threads: t.Threads, switches: c.switches + 1, preemptions: c.preemptions}
				if !free {
					n.preemptions++
				}
				if n.switches > r.q.cost.Switches || n.preemptions > bound {
					continue
				}
				step, ok := r.nextStep(s, i, to)
				if !ok {
					continue
				}
				n.script = append(splice(s.steps[:i]), step)
				r.created++
				n.number = r.created
				heap.Push(r, n)
			}
		}
		if last.Thread != here.Thread {
			c.switches++
			if here.Enabled.Has(last.Thread) {
				c.preemptions++
			}
		}
		if c.switches > r.q.cost.Switches || c.preemptions > bound {
			return
		}
	}
}

// nextStep is what thread id does next at position i of s. If s ended before the thread
// was scheduled again, the current execution may know.
func (r *restarts) nextStep(s *sequence, i int, id trace.ThreadID) (schedule.Step, bool) {
	for _, step := range s.steps[i:] {
		if step.Thread == id {
			return step, true
		}
	}
	done := 0
	for _, step := range s.steps[:i] {
		if step.Thread == id {
			done++
		}
	}
	own := idOf(r.q.trace.Threads, nameOf(s.trace.Threads, id))
	for _, step := range r.q.steps {
		if step.Thread != own {
			continue
		}
		if done == 0 {
			step.Thread = id
			step.Wake = -1
			return step, true
		}
		done--
	}
	return schedule.Step{}, false
}

func (r *restarts) Len() int { return len(r.open) }
func (r *restarts) Less(i, j int) bool {
	a, b := &r.open[i], &r.open[j]
	if a.preemptions != b.preemptions {
		return a.preemptions < b.preemptions
	}
	if a.switches != b.switches {
		return a.switches < b.switches
	}
	return a.number < b.number
}
func (r *restarts) Swap(i, j int) { r.open[i], r.open[j] = r.open[j], r.open[i] }
func (r *restarts) Push(x any)    { r.open = append(r.open, x.(prefix)) }
func (r *restarts) Pop() any {
	last := len(r.open) - 1
	p := r.open[last]
	r.open = r.open[:last]
	return p
}
