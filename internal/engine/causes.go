package engine

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// confirmSchedules is how many schedules that differ outside an ordering it is tried in, in each direction.
	confirmSchedules = 12
	// confirmTries is how many executions may be made to find them.
	confirmTries = 40
	// confirmShift is how far a context switch is moved for that.
	confirmShift = 3
)

// confirm tries the critical orderings in schedules near the base that differ in something else, and drops those with which
// executions fail as the base does although the two came the other way round: all of these if others are confirmed, and otherwise those with
// which each such execution does.
func (x *explainer) confirm(ctx context.Context) error {
	if len(x.critical.Orders) == 0 {
		return nil
	}
	near, err := x.near(ctx)
	if err != nil {
		return unlessLimit(err)
	}
	var kept []report.Order
	passing := map[[2]int]*trace.Trace{} // that turn an ordering
	for i, o := range x.critical.Orders {
		turned, err := x.confirmOrder(ctx, &o, near)
		if unlessLimit(err) != nil {
			return err
		}
		if i > 0 {
			passing[[2]int{o.First, o.Second}] = turned
		}
		if o.Failed < o.Executions {
			kept = append(kept, o)
		}
	}
	if slices.ContainsFunc(kept, confirmed) {
		kept = slices.DeleteFunc(kept, func(o report.Order) bool { return !confirmed(o) })
	}
	if x.critical.Orders = kept; len(kept) == 0 {
		x.critical.Passing = nil
	} else if t := passing[[2]int{kept[0].First, kept[0].Second}]; t != nil {
		x.critical.Passing = t
	}
	return nil
}

// confirmed reports whether no execution fails with an ordering's events the other way round.
func confirmed(o report.Order) bool { return o.Failed == 0 }

// near executes schedules that differ from the base's in the place of one context switch, each once, and returns those
// that fail as the base does or do not fail. The first is the base.
func (x *explainer) near(ctx context.Context) (out []*experiment.Result, err error) {
	scripts := []func() []schedule.Step{func() []schedule.Step { return experiment.Steps(x.Base.Events) }}
	seen := map[uint64]bool{}
	varied := 0 // of out, those whose neighbours are among the scripts
	for try := 0; try < confirmTries && len(out) < confirmSchedules; try++ {
		for len(scripts) == 0 && varied < len(out) {
			if v := out[varied]; v.Verdict == experiment.Same {
				scripts = spread(x.On(v.Trace, x.Plan).Shifted(confirmShift))
			}
			varied++
		}
		if len(scripts) == 0 {
			break
		}
		r, err := x.Run(ctx, x.Follow(scripts[0]()))
		if err != nil {
			return out, err
		}
		scripts = scripts[1:]
		if r.Trace == nil || r.Verdict != experiment.Same && r.Verdict != experiment.Passes || seen[orderOf(r.Trace)] {
			continue
		}
		seen[orderOf(r.Trace)] = true
		out = append(out, r)
	}
	return out, nil
}

// spread returns scripts in an order in which neighbours are far apart in the execution, and the same each time.
func spread(scripts []func() []schedule.Step) (out []func() []schedule.Step) {
	const step = 7
	for first := range min(step, len(scripts)) {
		for i := len(scripts) - 1 - first; i >= 0; i -= step {
			out = append(out, scripts[i])
		}
	}
	return out
}

// orderOf is the same for executions whose threads did the same in the same order.
func orderOf(t *trace.Trace) uint64 {
	h := fnv.New64a()
	for _, s := range schedule.ScriptOf(t) {
		var b [14]byte
		b[0], b[1], b[2], b[3] = byte(s.Thread), byte(s.Thread>>8), byte(s.Op), byte(s.Op>>8)
		for i := range 8 {
			b[4+i] = byte(s.Site >> (8 * i))
		}
		h.Write(b[:])
	}
	return h.Sum64()
}

// confirmOrder counts for an ordering how many of the schedules near the base that have it fail, and how many of those that
// differ from one of these in turning it. Schedules that turn another pair which may matter, too, count as neither. A turned schedule
// that fails counts only if it turns no more other pairs than each that passes: the failure may come about in another way. It returns
// the first execution with the two turned that does not fail, nil for none.
func (x *explainer) confirmOrder(ctx context.Context, o *report.Order, near []*experiment.Result) (passing *trace.Trace, err error) {
	seen := map[uint64]bool{}
	passed, fewest := 0, 0 // the fewest pairs that a turned schedule which passed turned
	var failed []int
	without := func(v, r *experiment.Result) {
		if r.Trace == nil || r.Verdict != experiment.Same && r.Verdict != experiment.Passes || seen[orderOf(r.Trace)] {
			return
		}
		seen[orderOf(r.Trace)] = true
		turned := x.turnedBetween(v.Trace, r.Trace)
		if r.Verdict == experiment.Same {
			failed = append(failed, turned)
			return
		}
		if passed++; passed == 1 {
			passing = r.Trace
		}
		if passed == 1 || turned < fewest {
			fewest = turned
		}
	}
	defer func() {
		for _, turned := range failed {
			if passed == 0 || turned <= fewest {
				o.Failed++
			}
		}
		if passed+o.Failed > 0 { // otherwise what was tried before is all that is known
			o.Executions = passed + o.Failed
		}
	}()
	for _, v := range near {
		first := v.At(o.First)
		if first < 0 || x.turnsAnother(v, o) {
			continue
		}
		if !x.keeps(v, o, first) {
			without(near[0], v) // the base
			continue
		}
		o.Kept++
		if v.Verdict != experiment.Same {
			continue
		}
		o.KeptFailed++
		r, err := x.reverse(ctx, v, o, first)
		if err != nil {
			return passing, err
		}
		if r != nil {
			without(v, r)
		}
	}
	return passing, nil
}

// turnedBetween returns how many dependent pairs of events one execution has and another does not have in that order.
func (x *explainer) turnedBetween(one, two *trace.Trace) (n int) {
	m := experiment.Match(one, two)
	pairs := experiment.Conflicts(one, func(ev *trace.Event) bool { return ops.Of(ev.Op).Of != ops.Thread && ops.Of(ev.Op).Of != ops.Execution })
	for _, p := range pairs {
		if a, b := m.Of(p[0]), m.Of(p[1]); a < 0 || b < 0 || b < a {
			n++
		}
	}
	return n
}

// keeps reports whether an execution has the events of an ordering in their order. first is its first one.
func (x *explainer) keeps(v *experiment.Result, o *report.Order, first int) bool {
	if o.Second < 0 {
		other := experiment.Match(x.critical.Passing, v.Trace).Of(o.InPassing)
		return other < 0 || first < other
	}
	if o.Waiting {
		return true
	}
	second := v.At(o.Second)
	return second < 0 || first < second
}

// turnsAnother reports whether an execution turned a pair other than an ordering that the failure may depend on, too: a critical one, or
// one that concerns an object of the ordering.
func (x *explainer) turnsAnother(v *experiment.Result, o *report.Order) bool {
	objects := map[trace.Object]bool{}
	add := func(ev *trace.Event) { objects[ev.Object], objects[ops.Acquires(ev)] = true, true }
	add(&x.Base.Events[o.First])
	if o.Second >= 0 {
		add(&x.Base.Events[o.Second])
	}
	delete(objects, 0)
	concerns := func(e int) bool {
		ev := &x.Base.Events[e]
		return objects[ev.Object] || objects[ops.Acquires(ev)]
	}
	for k := range x.pairs {
		p := &x.pairs[k]
		if p.waiter != nil || p.first == o.First && p.second == o.Second || !v.Turned(p.first, p.second) {
			continue
		}
		if p.Passed > 0 && p.Failed == 0 || concerns(p.first) && concerns(p.second) {
			return true
		}
	}
	return false
}

// reverse executes a schedule that has an ordering with the two the other way round, and the rest as closely as possible; nil if that
// could not be done.
func (x *explainer) reverse(ctx context.Context, v *experiment.Result, o *report.Order, first int) (*experiment.Result, error) {
	y := x.On(v.Trace, x.Plan)
	if o.Second >= 0 && !o.Waiting && v.At(o.Second) > first {
		second := v.At(o.Second)
		for _, turn := range y.Turns(first, second) {
			r, err := y.Turn(ctx, turn, first, second)
			if err != nil {
				return nil, err
			}
			if r.Turned(first, second) && r.At(first) >= 0 {
				return r, nil
			}
		}
	}
	var until trace.Site
	switch {
	case o.Waiting:
		until = x.waiterAt(o)
	case o.Second >= 0:
		until = x.Base.Events[o.Second].Site
	default:
		until = x.critical.Passing.Events[o.InPassing].Site
	}
	for _, until := range []trace.Site{until, 0} { // it may be there more than once
		plan := y.Reordered(experiment.Before(v.Trace, first), v.Trace.Events[first].Site)
		plan.Holds = holding(v.Trace, first, until)
		r, err := y.Run(ctx, plan)
		if err != nil {
			return nil, err
		}
		if r.Trace == nil {
			continue
		}
		if o.Waiting {
			if r.Passed() {
				return r, nil
			}
			continue
		}
		second := -1
		if o.Second < 0 {
			second = experiment.Match(x.critical.Passing, r.Trace).Of(o.InPassing)
		} else {
			second = experiment.Match(x.Base, r.Trace).Of(o.Second)
		}
		if own := r.At(first); second >= 0 && (own < 0 || second < own) {
			return r, nil
		}
	}
	return nil, nil
}

// waiterAt returns where the thread of an ordering's second event waits.
func (x *explainer) waiterAt(o *report.Order) trace.Site {
	for _, w := range x.Base.Ending.Waiters {
		if w.Thread == x.Base.Events[o.Second].Thread {
			return w.Site
		}
	}
	return 0
}
