package simprog

import (
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// policy chooses where no script does. See schedule.Policy for what each does.
type policy struct {
	x       *execution
	kind    schedule.Policy
	current *Thread
	// yielded: the current thread yielded.
	yielded bool
	changes []int // PCT: points at which the running thread's priority falls, ascending
	lowest  int64 // PCT: below all priorities given out
	rand    *rand.Rand
}

func newPolicy(x *execution) policy {
	p := policy{x: x, kind: x.plan.Policy, rand: x.rand}
	if p.kind == schedule.PCT {
		for range max(0, x.plan.Depth-1) {
			p.changes = append(p.changes, 1+p.rand.IntN(max(1, x.plan.Length)))
		}
		slices.Sort(p.changes)
	}
	return p
}

// created gives a new thread its priority.
func (p *policy) created(t *Thread) {
	t.priority = 1 + p.rand.Int64N(1<<62)
}

// fairInterval is how long a thread runs in the second half of a step budget, where every
// policy turns fair so that loops that wait for another thread end.
const fairInterval = 32

func (p *policy) choose(can []*Thread) *Thread {
	points := p.x.outcome.Points
	kind := p.kind
	if points >= p.x.plan.MaxSteps/2 {
		kind = schedule.Fair
		p.yielded = p.yielded || points%fairInterval == 0
	}
	t := can[0]
	switch kind {
	case schedule.Fair:
		t = p.roundRobin(can)
	case schedule.Random:
		if p.x.plan.Stay > 0 && p.rand.Float64() < p.x.plan.Stay && !p.yielded && slices.Contains(can, p.current) {
			t = p.current
		} else {
			t = can[p.rand.IntN(len(can))]
		}
	case schedule.PCT:
		t = slices.MaxFunc(can, func(a, b *Thread) int { return compare(a.priority, b.priority) })
		for len(p.changes) > 0 && points+1 >= p.changes[0] {
			p.changes = p.changes[1:]
			p.lower(t)
		}
		t = slices.MaxFunc(can, func(a, b *Thread) int { return compare(a.priority, b.priority) })
	case schedule.POS:
		t = slices.MaxFunc(can, func(a, b *Thread) int { return compare(a.draw, b.draw) })
	}
	p.current, p.yielded = t, false
	return t
}

func compare[T int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// lower puts a thread below all others.
func (p *policy) lower(t *Thread) {
	p.lowest--
	t.priority = p.lowest
}

// roundRobin stays with the current thread while it can run and has not yielded.
func (p *policy) roundRobin(can []*Thread) *Thread {
	if p.current == nil {
		return can[0]
	}
	if !p.yielded && slices.Contains(can, p.current) {
		return p.current
	}
	for _, t := range can {
		if t.id > p.current.id {
			return t
		}
	}
	return can[0]
}

// performed follows what a thread has just done.
func (p *policy) performed(t *Thread, done operation) {
	p.current = t
	if done.op == trace.OpYield {
		p.yielded = true
		if p.kind == schedule.PCT {
			p.lower(t)
		}
	}
	if p.kind == schedule.POS {
		for _, u := range p.x.threads {
			if u != t && !u.ended && conflict(&done, &u.next) {
				u.draw = p.rand.Uint64()
			}
		}
	}
}

// conflict reports whether the order of two operations can matter.
func conflict(a, b *operation) bool {
	switch {
	case a.word != nil && a.word == b.word:
		return a.op != trace.OpRead && a.op != trace.OpAtomicLoad || b.op != trace.OpRead && b.op != trace.OpAtomicLoad
	case a.lock != nil && a.lock == b.lock, a.cond != nil && a.cond == b.cond,
		a.sem != nil && a.sem == b.sem, a.bar != nil && a.bar == b.bar:
		return true
	}
	return false
}
