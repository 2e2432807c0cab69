package engine

import (
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
)

// flight has the plans that were made and not wholly observed, in the order in which the strategy
// made them. Workers take them in this order and finish them in any; their outcomes are observed
// in it again.
type flight struct {
	plans []*flying // tags are consecutive
	taken int       // of plans, how many a worker has been given
	tag   uint64    // of the next plan
	// unseen is how many executions the plans ask for that have not been observed.
	unseen int
	spare  []*flying // that have been dropped, to be used again
}

// flying is a plan in flight.
type flying struct {
	request strategy.Request // with what all plans of the search have in common filled in
	// observed is how many executions have been observed, and base how many had been when the
	// plan was given to a worker, which is asked for the rest only.
	observed, base int
	early          []early // results that came before their turn, in order
}

// early is a copy of an Execution.
type early struct {
	outcome *schedule.Outcome
	last    bool
	seen    *observe.Observation
}

// add puts a plan at the end.
func (f *flight) add(r *strategy.Request) {
	r.Plan.Tag = f.tag
	r.Plan.Repeat = max(1, r.Plan.Repeat)
	f.tag++
	f.unseen += r.Plan.Repeat
	p := new(flying)
	if n := len(f.spare); n > 0 {
		p, f.spare = f.spare[n-1], f.spare[:n-1]
	}
	p.request = *r
	f.plans = append(f.plans, p)
}

// take gives out the next plan, if there is one that no worker has.
func (f *flight) take() (Job, bool) {
	if f.taken == len(f.plans) {
		return Job{}, false
	}
	p := f.plans[f.taken]
	f.taken++
	j := Job{Plan: p.request.Plan, Observe: p.request.Observe}
	p.base = p.observed
	j.Plan.Seed += uint64(p.base)
	j.Plan.Repeat -= p.base
	return j, true
}

// get returns the plan with a tag, nil if no worker has it.
func (f *flight) get(tag uint64) *flying {
	if len(f.plans) == 0 || tag-f.plans[0].request.Plan.Tag >= uint64(f.taken) {
		return nil
	}
	return f.plans[tag-f.plans[0].request.Plan.Tag]
}

// first returns the plan whose executions are observed now.
func (f *flight) first() *flying { return f.plans[0] }

// drop removes the first plan, which has ended.
func (f *flight) drop() {
	p := f.plans[0]
	f.unseen -= p.request.Plan.Repeat - p.observed
	f.plans[0] = nil
	f.plans = f.plans[1:]
	f.taken--
	*p = flying{}
	f.spare = append(f.spare, p)
}

// rewind takes all plans back from the workers. What of them has not been observed is to be run
// again.
func (f *flight) rewind() {
	f.taken = 0
	for _, p := range f.plans {
		p.early = nil
	}
}

// alone returns the plan of one execution alone.
func (p *flying) alone(index int) schedule.Plan {
	one := p.request.Plan
	one.Seed += uint64(index)
	one.Repeat = 1
	return one
}
