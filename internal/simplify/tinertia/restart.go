package tinertia

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// restartBound is the maximum number of preemptions of a restarted execution: 0, 1, then
// 2. Musuvathi and Qadeer found that few bugs need more.
const restartBound = 2

// restart searches for the bug again, from the start and with fewer preemptions. It is not in the
// paper. It divides an execution into a forced prefix and a fair rest, forces one more scheduling
// decision somewhere in the rest, and leaves everything after it to the fair policy. The first
// execution has no forced decision. A forced decision is one of two kinds:
//
//   - If the previous thread is blocked, or at the very start, any enabled thread can be chosen.
//     That costs no preemption.
//   - Otherwise, another thread preempts it. The preemptions of the current execution come first:
//     the same thread after the same operation, preempted by the same thread. Then come others,
//     ordered by how many operations they are away from a place where the current execution
//     preempts that thread.
//
// Prefixes with the fewest preemptions come first, then those nearest to the current execution.
// This is iterative context bounding (Musuvathi and Qadeer, PLDI'07), guided by a known failing
// execution and limited by passLimit. Positions are not used.
func restart(q *sequence, _ int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		if len(q.teis) < 2 {
			return
		}
		r := &restarts{q: q, known: q.switchPlaces(), room: 4 * passLimit(len(q.teis))}
		for p := (&prefix{}); p != nil; p = r.pop() {
			c := candidate{op: Restart, script: p.script(), threads: p.threads, bound: unbounded}
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

// prefix is the forced beginning of an execution: steps of an earlier execution, followed by a
// different scheduling decision.
type prefix struct {
	base    []schedule.Step
	choice  schedule.Step
	length  int            // of the script
	threads []trace.Thread // names for the steps; nil means those of the current execution

	preemptions int
	distance    int // sum of the distances of its preemptions from the current execution's
	switches    int
	number      int // in order of creation; breaks ties
}

func (p *prefix) script() []schedule.Step {
	if p.length == 0 {
		return nil
	}
	return append(splice(p.base), p.choice)
}

func (p *prefix) compare(o *prefix) int {
	return cmp.Or(
		cmp.Compare(p.preemptions, o.preemptions),
		cmp.Compare(p.distance, o.distance),
		cmp.Compare(p.switches, o.switches),
		cmp.Compare(p.number, o.number),
	)
}

// place identifies a context switch across executions.
type place struct {
	from, to uint64 // threads
	op       trace.Op
	site     trace.Site // of the last operation of from before the switch
}

// switchPlaces returns the context switches of an execution, and for each thread how many
// operations it had performed whenever it was descheduled.
func (q *sequence) switchPlaces() places {
	p := places{at: map[place]bool{}, done: map[uint64][]int{}}
	count := map[trace.ThreadID]int{}
	for k, tei := range q.teis[:len(q.teis)-1] {
		count[tei.Thread] += tei.End - tei.Start
		p.at[placeOf(q.trace.Threads, &q.events[tei.End-1], q.teis[k+1].Thread)] = true
		from := nameOf(q.trace.Threads, tei.Thread)
		p.done[from] = append(p.done[from], count[tei.Thread])
	}
	return p
}

type places struct {
	at   map[place]bool
	done map[uint64][]int
}

func placeOf(threads []trace.Thread, last *trace.Event, to trace.ThreadID) place {
	return place{nameOf(threads, last.Thread), nameOf(threads, to), last.Op, last.Site}
}

// farAway is the distance of a preemption of a thread that the current execution never deschedules.
const farAway = 1 << 16

// distance returns how far a preemption is from those of the current execution. The preemption is
// after last, the n-th operation of its thread, in favour of thread to.
func (p places) distance(threads []trace.Thread, last *trace.Event, n int, to trace.ThreadID) int {
	if p.at[placeOf(threads, last, to)] {
		return 0
	}
	d := farAway
	for _, m := range p.done[nameOf(threads, last.Thread)] {
		d = min(d, 1+max(n-m, m-n))
	}
	return d
}

// restarts is a heap of prefixes that have not been run yet.
type restarts struct {
	q       *sequence
	known   places
	open    []*prefix
	room    int     // capacity of open
	worst   *prefix // worst prefix kept when the heap was last trimmed
	created int
}

// expand adds the prefixes that differ from t, the execution of p, in one scheduling decision after
// p.
func (r *restarts) expand(p *prefix, t *trace.Trace) {
	if t.Ending.Kind == trace.Hang {
		return // its length is just the step budget
	}
	s := newSequence(t)
	done := map[trace.ThreadID]int{} // operations in s.events[:i]
	switched, preempted := 0, 0      // in s.events[:i]
	next := nextSteps(s)
	for i := range s.events {
		here := &s.events[i]
		last := trace.ThreadID(-1) // the thread that ran before
		if i > 0 {
			last = s.events[i-1].Thread
		}
		free := !here.Enabled.Has(last)
		if i >= p.length {
			for to := range here.Enabled.All() {
				if to == here.Thread || to == last {
					continue
				}
				n := prefix{base: s.steps[:i], length: i + 1, threads: t.Threads,
					switches: switched, preemptions: preempted, distance: p.distance}
				if i > 0 {
					n.switches++
				}
				if !free {
					n.preemptions++
					n.distance += r.known.distance(t.Threads, &s.events[i-1], done[last], to)
				}
				if r.useful(n.switches, n.preemptions) {
					n.choice = r.choice(s, to, next, done[to])
					r.push(n)
				}
			}
		}
		if i > 0 && last != here.Thread {
			switched++
			if !free {
				preempted++
			}
		}
		if !r.useful(switched, preempted) {
			break
		}
		done[here.Thread]++
		if q := next[here.Thread]; len(q) > 0 {
			next[here.Thread] = q[1:]
		}
	}
}

// useful reports whether an execution whose prefix has this cost can be simpler than the current
// one.
func (r *restarts) useful(switches, preemptions int) bool {
	c := r.q.cost
	return preemptions <= restartBound && (switches < c.Switches || switches == c.Switches && preemptions <= c.Preemptions)
}

// nextSteps returns the indices of each thread's steps.
func nextSteps(s *sequence) map[trace.ThreadID][]int {
	next := map[trace.ThreadID][]int{}
	for i, step := range s.steps {
		next[step.Thread] = append(next[step.Thread], i)
	}
	return next
}

// choice returns the step that schedules thread id next, which has performed done operations so
// far. If s ended before the thread was scheduled again, the current execution may show its next
// operation. If not, the step expects an operation that does not exist, so that the thread leaves
// the script at once and runs until it blocks, as under the fair policy.
func (r *restarts) choice(s *sequence, id trace.ThreadID, next map[trace.ThreadID][]int, done int) schedule.Step {
	if n := next[id]; len(n) > 0 {
		return s.steps[n[0]]
	}
	own := idOf(r.q.trace.Threads, nameOf(s.trace.Threads, id))
	for _, step := range r.q.steps {
		if step.Thread != own {
			continue
		}
		if done == 0 {
			step.Thread = id
			step.Wake = -1
			return step
		}
		done--
	}
	return schedule.Step{Thread: id, Op: trace.OpNone, Wake: -1}
}

// push adds a prefix. A long execution of many threads has a great number of them. When there are
// more than will ever run, push drops the worse half, and from then on ignores prefixes that are
// worse than all kept.
func (r *restarts) push(p prefix) {
	r.created++
	p.number = r.created
	if r.worst != nil && p.compare(r.worst) > 0 {
		return
	}
	heap.Push(r, &p)
	if len(r.open) >= r.room {
		slices.SortFunc(r.open, (*prefix).compare) // sorted is a heap
		half := r.room / 2
		clear(r.open[half:])
		r.open = r.open[:half]
		r.worst = r.open[half-1]
	}
}

func (r *restarts) pop() *prefix {
	if len(r.open) == 0 {
		return nil
	}
	return heap.Pop(r).(*prefix)
}

func (r *restarts) Len() int           { return len(r.open) }
func (r *restarts) Less(i, j int) bool { return r.open[i].compare(r.open[j]) < 0 }
func (r *restarts) Swap(i, j int)      { r.open[i], r.open[j] = r.open[j], r.open[i] }
func (r *restarts) Push(x any)         { r.open = append(r.open, x.(*prefix)) }
func (r *restarts) Pop() any {
	last := len(r.open) - 1
	p := r.open[last]
	r.open[last] = nil
	r.open = r.open[:last]
	return p
}
