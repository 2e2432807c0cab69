package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// ExplainOptions bound a search for the critical order.
type ExplainOptions struct {
	// Executions is how many are made at most; 0 for explainRuns.
	Executions   int
	ExpectStatus int32
}

const (
	explainRuns = 200
	// explainSites is how many memory instructions become scheduling points, those nearest to the failure.
	explainSites = 64
	// explainSame is how many pairs of the same two instructions are turned.
	explainSame = 4
	// explainDelays is how many instructions a thread that failed is delayed before.
	explainDelays = 40
)

// Critical is the critical order of a failing execution.
type Critical struct {
	// Base is the execution that Orders speak of: the recorded one, with all accesses to memory.
	Base    *trace.Trace
	Orders  []report.Order
	Passing *trace.Trace // the execution that turns the first of Orders and does not fail; nil for none
	// Executions were made. Complete is false if their limit ended the search, or another bound left orderings out.
	Executions int
	Complete   bool
}

// Explain looks for the orderings of two events of different threads on which a failure depends. It repeats
// the execution with the accesses to memory that two threads share as scheduling points, and then turns
// dependent pairs of events: the execution is followed up to the earlier one, the later one comes first,
// and the rest of the schedule is followed as closely as possible. An ordering is critical if the pair was
// turned in at least one execution and none of those that turned it failed.
//
// Turning one pair can turn others. So of two critical orderings, only that is listed that turns a proper
// part of what the other turns.
func Explain(ctx context.Context, t target.Target, recorded *trace.Trace, opts ExplainOptions) (*Critical, error) {
	if !recorded.Ending.Kind.Failed() {
		return nil, fmt.Errorf("the recorded execution does not fail: there is nothing to explain")
	}
	x := &explainer{target: t, limit: opts.Executions, critical: &Critical{Complete: true}}
	if x.limit == 0 {
		x.limit = explainRuns
	}
	v := verdict{expect: opts.ExpectStatus, outputs: outputsOf(&recorded.Header)}
	x.judged = judged(t, v)
	if err := x.repeat(ctx, recorded); err != nil {
		return nil, err
	}
	if err := x.turnAll(ctx); err != nil {
		return nil, err
	}
	x.finish()
	if len(x.critical.Orders) == 0 {
		if err := x.delay(ctx); err != nil {
			return nil, err
		}
	}
	return x.critical, nil
}

type explainer struct {
	target   target.Target
	judged   func(context.Context, schedule.Plan) (schedule.Outcome, error)
	limit    int
	plan     schedule.Plan
	goal     trace.Ending // of the recorded execution
	pairs    []pairOf
	critical *Critical
}

// pairOf is a pair of dependent events of the base, in their order, and what turning it showed.
type pairOf struct {
	first, second int
	waiter        *trace.Waiter // not nil: second is its last event, and it waits for an operation behind that
	turned        []int         // the fewest pairs that an execution turned with this one, itself included
	runs, failed  int
	controlled    bool // the execution that leaves the access in its place and moves the rest failed
	passing       *trace.Trace
}

// same reports whether an execution failed as the recorded one.
func (x *explainer) same(e trace.Ending) bool {
	modules := x.target.Modules() // which are known once the program has run
	return finding.Of(x.goal, modules).Same(finding.Of(e, modules))
}

// run executes a plan and counts it.
func (x *explainer) run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	x.critical.Executions++
	return x.judged(ctx, p)
}

// repeat executes the recorded schedule with all accesses, and again with those that threads share as
// scheduling points.
func (x *explainer) repeat(ctx context.Context, recorded *trace.Trace) error {
	plan, err := ReplayPlan(x.target, recorded)
	if err != nil {
		return err
	}
	x.goal = recorded.Ending
	plan.Accesses, plan.Values, plan.MaxAccesses = true, true, schedule.AllAccesses
	o, err := x.run(ctx, plan)
	if err == nil {
		err = unrecorded(x.target, &o)
	}
	if err != nil {
		return err
	}
	if !x.same(o.Ending) {
		return fmt.Errorf("the execution could not be repeated: it ended with %v", o.Ending.Kind)
	}
	base := o.Trace
	order := make([]int, len(base.Events))
	for i := range order {
		order[i] = i
	}
	base.Header.Points = recorded.Header.Points
	follow := reorderPlanAt(base, order, sharedSites(base))
	follow.Seed, follow.ExpectStatus = plan.Seed, plan.ExpectStatus
	follow.Mode = schedule.Tolerant
	if o, err = x.run(ctx, follow); err != nil {
		return err
	}
	if o.Trace != nil && x.same(o.Ending) {
		base = o.Trace
		base.Header.Points = follow.Points
	}
	base.Header.Strategy = recorded.Header.Strategy
	x.plan, x.critical.Base = follow, base
	x.pairs = waitingPairs(base)
	pairs, all := dependentPairs(base)
	x.critical.Complete = all
	for _, p := range pairs {
		x.pairs = append(x.pairs, pairOf{first: p[0], second: p[1]})
	}
	return nil
}

// sharedSites returns the instructions of accesses to memory that another thread accesses, too, one of the two
// writing: the last before the failure first, at most explainSites.
func sharedSites(t *trace.Trace) []trace.Site {
	var sites []trace.Site
	pairs := conflicts(t, func(ev *trace.Event) bool { return ev.Op.IsAccess() || ev.Op == trace.OpFree })
	for _, p := range slices.Backward(pairs) {
		for _, e := range p {
			if s := t.Events[e].Site; s != 0 && len(sites) < explainSites && !slices.Contains(sites, s) {
				sites = append(sites, s)
			}
		}
	}
	return sites
}

// dependentPairs returns the pairs to turn, the nearest to the failure first, and whether these are all.
func dependentPairs(t *trace.Trace) (out [][2]int, complete bool) {
	all := conflicts(t, func(ev *trace.Event) bool {
		return ev.Flags&trace.FlagNoDecision == 0 && ops.Of(ev.Op).Of != ops.Thread && ops.Of(ev.Op).Of != ops.Execution
	})
	type places struct{ a, b trace.Site }
	seen := map[places]int{}
	for _, p := range slices.Backward(all) {
		k := places{t.Events[p[0]].Site, t.Events[p[1]].Site}
		if seen[k]++; seen[k] <= explainSame {
			out = append(out, p)
		}
	}
	return out, len(out) == len(all)
}

// conflicts returns the pairs of events of different threads that depend on each other and have no event in
// between that depends on both, in the order of the second.
func conflicts(t *trace.Trace, counts func(*trace.Event) bool) (out [][2]int) {
	type last struct {
		write int // the last event that changed the object, -1 for none
		reads map[trace.ThreadID]int
	}
	objects := map[uint64]*last{}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Object == 0 || !counts(ev) {
			continue
		}
		changes := true
		switch ops.Does(ev.Op) {
		case ops.None, ops.Announce, ops.Resume, ops.Leave, ops.Depart, ops.Release, ops.ReleaseShared, ops.Allocate:
			continue // an acquisition stands for its critical section
		case ops.Read, ops.AtomicRead, ops.Inspect:
			changes = false
		}
		met := map[int]bool{}
		memory := ops.Of(ev.Op).Of == ops.Memory || ops.Of(ev.Op).Of == ops.Block
		size := uint64(1)
		if memory {
			size = min(max(uint64(ev.Size), 1), 256)
		}
		for b := uint64(0); b < size; b += 8 {
			at := uint64(ev.Object) + b
			if memory {
				at &^= 7
			}
			l := objects[at]
			if l == nil {
				l = &last{write: -1, reads: map[trace.ThreadID]int{}}
				objects[at] = l
			}
			if l.write >= 0 && t.Events[l.write].Thread != ev.Thread {
				met[l.write] = true
			}
			if changes {
				for th, r := range l.reads {
					if th != ev.Thread {
						met[r] = true
					}
				}
				l.write = i
				clear(l.reads)
			} else {
				l.reads[ev.Thread] = i
			}
		}
		for _, first := range slices.Sorted(maps.Keys(met)) {
			if !memory || overlap(&t.Events[first], ev) {
				out = append(out, [2]int{first, i})
			}
		}
	}
	return out
}

// waitingPairs returns, for each thread that waits for a lock when the execution ends, the acquisition by the
// thread that holds it.
func waitingPairs(t *trace.Trace) (out []pairOf) {
	for i := range t.Ending.Waiters {
		w := &t.Ending.Waiters[i]
		if does := ops.Does(w.Op); w.Holder < 0 || does != ops.Acquire && does != ops.AcquireShared {
			continue
		}
		first, second := -1, -1
		for e := range t.Events {
			ev := &t.Events[e]
			if does := ops.Does(ev.Op); ev.Thread == w.Holder && ev.Object == w.Object && (does == ops.Acquire || does == ops.AcquireShared) && ev.Flags&trace.FlagNoDecision == 0 {
				first = e
			}
			if ev.Thread == w.Thread {
				second = e
			}
		}
		if first >= 0 && second >= 0 && w.Site != 0 && t.Events[first].Site != 0 {
			out = append(out, pairOf{first: first, second: second, waiter: w})
		}
	}
	return out
}

// turnWaiting lets the holder of a lock wait before it acquires it, until the waiting thread has acquired it.
func (x *explainer) turnWaiting(ctx context.Context, p *pairOf) error {
	base := x.critical.Base
	first := &base.Events[p.first]
	rest := slices.DeleteFunc(slices.Clone(base.Events[p.first:]), func(ev trace.Event) bool { return ev.Thread == first.Thread })
	plan := x.plan
	plan.Script, plan.Threads = schedule.Steps(slices.Concat(base.Events[:p.first], rest)), base.Threads
	arrival := 0
	for i := range base.Events[:p.first+1] {
		if ev := &base.Events[i]; ev.Thread == first.Thread && ev.Site == first.Site {
			arrival++
		}
	}
	plan.Holds = []schedule.Hold{{Site: first.Site, Thread: first.Thread, Arrival: arrival, Until: p.waiter.Site, When: schedule.Done}}
	o, err := x.run(ctx, plan)
	if err != nil || o.Trace == nil || len(o.Holds) != 1 || o.Holds[0].Done == 0 {
		return err
	}
	p.runs++
	if o.Ending.Kind != trace.Clean {
		p.failed++ // or is not known to pass
		return nil
	}
	p.passing = o.Trace
	return nil
}

// turnAll turns the pairs one after the other.
func (x *explainer) turnAll(ctx context.Context) error {
	base := x.critical.Base
	follow := func(script []schedule.Step) (schedule.Outcome, error) {
		p := x.plan
		p.Script, p.Threads = script, base.Threads
		return x.run(ctx, p)
	}
	instances := make([]instance, len(x.pairs))
	for k := range x.pairs {
		instances[k] = instance{first: x.pairs[k].first, second: x.pairs[k].second}
	}
	for k := range x.pairs {
		p := &x.pairs[k]
		if p.waiter != nil {
			if x.critical.Executions >= x.limit {
				x.critical.Complete = false
				return nil
			}
			if err := x.turnWaiting(ctx, p); err != nil {
				return err
			}
			p.turned = []int{k}
			continue
		}
		for _, turn := range turns(base, p.first, p.second) {
			if x.critical.Executions >= x.limit {
				x.critical.Complete = false
				return nil
			}
			o, err := follow(turn.turned)
			if err != nil {
				return err
			}
			if o.Trace == nil || !isTurned(base, o.Trace, &instances[k]) {
				continue
			}
			p.runs++
			if o.Ending.Kind != trace.Clean {
				p.failed++ // or is not known to pass
				break
			}
			if p.passing == nil {
				p.passing = o.Trace
			}
			if !p.controlled && x.critical.Executions < x.limit {
				control, err := follow(turn.control)
				if err != nil {
					return err
				}
				p.controlled = x.same(control.Ending) && control.Trace != nil && !isTurned(base, control.Trace, &instances[k])
			}
			var others []int
			for n := range instances {
				if n == k || x.pairs[n].waiter == nil && occurrence(base, instances[n].first, o.Trace) >= 0 && isTurned(base, o.Trace, &instances[n]) {
					others = append(others, n)
				}
			}
			if p.turned == nil || len(others) < len(p.turned) {
				p.turned = others
			}
		}
	}
	return nil
}

// delay looks for an event that comes before another that never happens, because the execution fails first. It
// follows the execution until before an event of a thread that failed or waits, and lets all other threads do what
// they can before it continues. If then the execution does not fail, the thread was too early. The last such event
// counts, and of the events of others meanwhile the last that depends on it.
func (x *explainer) delay(ctx context.Context) error {
	base := x.critical.Base
	failed := map[trace.ThreadID]bool{base.Ending.Thread: true}
	for _, w := range base.Ending.Waiters {
		failed[w.Thread] = true
	}
	order := make([]int, len(base.Events))
	for i := range order {
		order[i] = i
	}
	seen := map[trace.Site]bool{}
	for e := len(base.Events) - 1; e > 0; e-- {
		ev := &base.Events[e]
		does := ops.Does(ev.Op)
		if !failed[ev.Thread] || ev.Site == 0 || seen[ev.Site] || ev.Object == 0 || ev.Object.Region() == trace.RegionStack && ops.Of(ev.Op).Of == ops.Memory ||
			does == ops.None || does == ops.Allocate || ev.Flags&trace.FlagNoDecision != 0 && !ev.Op.IsAccess() {
			continue
		}
		seen[ev.Site] = true
		if len(seen) > explainDelays {
			x.critical.Complete = false
			return nil
		}
		if x.critical.Executions >= x.limit {
			x.critical.Complete = false
			return nil
		}
		plan := reorderPlanAt(base, order[:e], []trace.Site{ev.Site})
		plan.Seed, plan.ExpectStatus, plan.Mode = x.plan.Seed, x.plan.ExpectStatus, schedule.Tolerant
		arrival := 0
		for i := range base.Events[:e+1] {
			if other := &base.Events[i]; other.Thread == ev.Thread && other.Site == ev.Site {
				arrival++
			}
		}
		plan.Holds = []schedule.Hold{{Site: ev.Site, Thread: ev.Thread, Arrival: arrival}}
		o, err := x.run(ctx, plan)
		if err != nil {
			return err
		}
		if o.Trace == nil || o.Ending.Kind != trace.Clean || len(o.Holds) != 1 || o.Holds[0].Held == 0 {
			continue
		}
		at := occurrence(base, e, o.Trace)
		for i := at - 1; i >= e; i-- {
			other := &o.Trace.Events[i]
			if other.Thread == ev.Thread || !depends(ev, other) {
				continue
			}
			if x.critical.Executions >= x.limit {
				x.critical.Complete = false
				return nil
			}
			found, err := x.tooEarly(ctx, e, o.Trace, at, i)
			if err != nil || found {
				return err
			}
			break
		}
	}
	return nil
}

// tooEarly executes what happened in an execution that delayed event e of the base up to event other of another
// thread, and then e, which is event at there: it must not fail. If the same without other fails, other alone decides.
func (x *explainer) tooEarly(ctx context.Context, e int, delayed *trace.Trace, at, other int) (bool, error) {
	base := x.critical.Base
	run := func(last int) (schedule.Outcome, *schedule.Plan, error) {
		var order []int
		for i := range last {
			order = append(order, i)
		}
		plan := reorderPlanAt(delayed, append(order, at), []trace.Site{delayed.Events[other].Site, delayed.Events[at].Site})
		plan.Seed, plan.ExpectStatus, plan.Mode = x.plan.Seed, x.plan.ExpectStatus, schedule.Tolerant
		o, err := x.run(ctx, plan)
		return o, &plan, err
	}
	if x.critical.Executions+2 > x.limit {
		x.critical.Complete = false
		return false, nil
	}
	o, plan, err := run(other + 1)
	if err != nil || o.Trace == nil || o.Ending.Kind != trace.Clean {
		return false, err
	}
	second := occurrence(delayed, other, o.Trace)
	if own := occurrence(base, e, o.Trace); second < 0 || own >= 0 && own < second {
		return false, nil
	}
	control, _, err := run(other)
	if err != nil {
		return false, err
	}
	o.Trace.Header.Strategy, o.Trace.Header.Points, o.Trace.Header.ExpectStatus = base.Header.Strategy, plan.Points, plan.ExpectStatus
	x.critical.Passing = o.Trace
	x.critical.Orders = []report.Order{{First: e, Second: -1, InPassing: second, Controlled: x.same(control.Ending), Executions: 1}}
	return true, nil
}

// depends reports whether two events concern the same object and one of them changes it.
func depends(a, b *trace.Event) bool {
	one, two := ops.Of(a.Op), ops.Of(b.Op)
	reads := func(s *ops.Spec) bool {
		return s.Does == ops.Read || s.Does == ops.AtomicRead || s.Does == ops.Inspect || s.Does == ops.None
	}
	if reads(one) && reads(two) || two.Does == ops.Allocate {
		return false
	}
	if one.Of == ops.Memory && (two.Of == ops.Memory || two.Of == ops.Block) || two.Of == ops.Memory && one.Of == ops.Block {
		return overlap(a, b)
	}
	return a.Object == b.Object
}

// finish selects the critical orderings: those that the failure depends on alone, if there are some.
func (x *explainer) finish() {
	var critical []*pairOf
	for k := range x.pairs {
		if p := &x.pairs[k]; p.runs > 0 && p.failed == 0 {
			critical = append(critical, p)
		}
	}
	if slices.ContainsFunc(critical, func(p *pairOf) bool { return p.controlled }) {
		critical = slices.DeleteFunc(critical, func(p *pairOf) bool { return !p.controlled && p.waiter == nil })
	}
	smallest := slices.DeleteFunc(slices.Clone(critical), func(p *pairOf) bool {
		return slices.ContainsFunc(critical, func(q *pairOf) bool {
			return q != p && len(q.turned) < len(p.turned) && !slices.ContainsFunc(q.turned, func(n int) bool { return !slices.Contains(p.turned, n) })
		})
	})
	type places struct{ a, b trace.Site }
	listed := map[places]bool{} // the same two instructions, later in the execution, add nothing
	for _, p := range smallest {
		k := places{x.critical.Base.Events[p.first].Site, x.critical.Base.Events[p.second].Site}
		if listed[k] {
			continue
		}
		listed[k] = true
		x.critical.Orders = append(x.critical.Orders, report.Order{First: p.first, Second: p.second, Waiting: p.waiter != nil, Controlled: p.controlled, Executions: p.runs})
		if x.critical.Passing == nil {
			x.critical.Passing = p.passing
			p.passing.Header.Strategy, p.passing.Header.Points = x.critical.Base.Header.Strategy, x.plan.Points
			p.passing.Header.ExpectStatus = x.plan.ExpectStatus
		}
	}
}
