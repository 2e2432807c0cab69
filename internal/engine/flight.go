package engine

import (
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
)

// flight is the queue of plans that are not fully observed, in the order in which the strategy made
// them. Workers take them in this order and finish them in any order; outcomes are observed in
// queue order.
type flight struct {
	plans []*flying // tags are consecutive
	taken int       // how many of plans have been given to workers
	tag   uint64    // tag of the next plan
	// unseen is the number of requested executions that have not been observed.
	unseen int
	spare  []*flying // dropped entries, for reuse
}

// flying is a plan in flight.
type flying struct {
	request strategy.Request // completed by search.complete
	// observed is the number of executions observed; base is its value when a worker took the plan,
	// which runs only the remaining ones.
	observed, base int
	// whole is the number of executions that the strategy asked for: more than the request's if
	// Options.Runs leaves no room for them (search.beyond).
	whole int
	early []early // results that arrived before their turn, in order
}

// early is a copy of an Execution.
type early struct {
	outcome *schedule.Outcome
	last    bool
	seen    *observe.Observation
}

// add appends a plan.
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

// take returns the next plan that no worker has, if any.
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

// get returns the plan with the given tag, or nil if no worker has it.
func (f *flight) get(tag uint64) *flying {
	if len(f.plans) == 0 || tag-f.plans[0].request.Plan.Tag >= uint64(f.taken) {
		return nil
	}
	return f.plans[tag-f.plans[0].request.Plan.Tag]
}

// first returns the plan whose executions are observed next.
func (f *flight) first() *flying { return f.plans[0] }

// drop removes the first plan, which is finished.
func (f *flight) drop() {
	p := f.plans[0]
	f.unseen -= p.request.Plan.Repeat - p.observed
	f.plans[0] = nil
	f.plans = f.plans[1:]
	f.taken--
	*p = flying{}
	f.spare = append(f.spare, p)
}

// rewind takes all plans back from the workers and discards early results, so that executions not
// observed yet run again.
func (f *flight) rewind() {
	f.taken = 0
	for _, p := range f.plans {
		p.early = nil
	}
}

// cut reports whether the strategy asked for more executions of the plan than are made now.
func (p *flying) cut() bool { return p.request.Plan.Repeat < p.whole }

// alone returns a plan for just one execution of p.
func (p *flying) alone(index int) schedule.Plan {
	one := p.request.Plan
	one.Seed += uint64(index)
	one.Repeat = 1
	return one
}
