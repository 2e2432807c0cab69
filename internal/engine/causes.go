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
	confirmSchedules = 20
	// confirmTries is how many executions may be made to find them.
	confirmTries = 60
	// confirmShift is how far a context switch is moved for that.
	confirmShift = 3
	// confirmEvents bounds the memory for the recordings of these schedules.
	confirmEvents = 4_000_000
)

// near executes schedules that differ from the base's in the place of one context switch, each once, and returns those
// that fail as the base does or do not fail. The first is the base.
func (x *explainer) near(ctx context.Context) ([]*experiment.Result, error) {
	if x.nearby != nil {
		return x.nearby, nil
	}
	out, err := x.vary(ctx)
	if err == nil {
		x.nearby = out
	}
	return out, err
}

func (x *explainer) vary(ctx context.Context) (out []*experiment.Result, err error) {
	most := min(confirmSchedules, 1+confirmEvents/len(x.Base.Events))
	scripts := []func() []schedule.Step{func() []schedule.Step { return experiment.Steps(x.Base.Events) }}
	seen := map[uint64]bool{}
	y := x.Experiment // of the scripts
	varied := 0       // of out, those whose neighbours are among the scripts
	for try := 0; try < confirmTries && len(out) < most; try++ {
		for len(scripts) == 0 && varied < len(out) {
			if v := out[varied]; v.Verdict == experiment.Same {
				y = x.On(v.Trace, x.Plan)
				scripts = spread(y.Shifted(confirmShift))
			}
			varied++
		}
		if len(scripts) == 0 {
			break
		}
		r, err := x.Run(ctx, y.Follow(scripts[0]()))
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

// confirm counts for a suspect how many of the schedules near the base that have it fail, and how many of those that
// differ from one of these in turning it. Schedules that turn another pair which may matter, too, count as neither. A turned schedule
// that fails counts only if it turns no more other pairs than each that passes: the failure may come about in another way. Nor does it
// count if the same instructions come between each other once more.
func (x *explainer) confirm(ctx context.Context, c *suspect, near []*experiment.Result) (err error) {
	seen := map[uint64]bool{}
	passed, fewest := 0, 0 // the fewest pairs that a turned schedule which passed turned
	var failed []int
	var closest *trace.Trace // which did
	without := func(v, r *experiment.Result) {
		if r.Trace == nil || r.Verdict != experiment.Same && r.Verdict != experiment.Passes || seen[orderOf(r.Trace)] {
			return
		}
		seen[orderOf(r.Trace)] = true
		turned := x.turnedBetween(v.Trace, r.Trace)
		if r.Verdict == experiment.Same {
			if x.again(r.Trace, c) {
				c.Again++
				return
			}
			if x.inOrder(r.Trace, c) {
				return
			}
			failed = append(failed, turned)
			return
		}
		if passed++; passed == 1 || turned < fewest {
			fewest, closest = turned, r.Trace
		}
	}
	how := new(reversal)
	for _, v := range near {
		first := v.At(c.First)
		if first < 0 || x.turnsAnother(v, c) || c.with != nil && v.Turned(c.First, c.Second) != v.Turned(c.with.first, c.with.second) {
			continue
		}
		if !x.keeps(v, c, first) {
			without(near[0], v) // the base
			continue
		}
		c.Kept++
		if v.Verdict != experiment.Same {
			continue
		}
		c.KeptFailed++
		r, rerr := x.reverse(ctx, v, c, first, how)
		if rerr != nil { // what was seen so far counts
			err = rerr
			break
		}
		if r != nil {
			without(v, r)
		}
	}
	if closest != nil && len(failed) == 0 && !c.Waiting {
		// The base has few neighbours with the two in their order: those of the execution that turned them are tried as well.
		y := x.On(closest, x.Plan)
		if second, first := x.both(closest, c); second >= 0 && second < first && c.with == nil {
			r, err := x.Run(ctx, y.Follow(y.Closer(second, first)))
			if err != nil {
				return err
			}
			if r.Verdict == experiment.Same && r.Trace != nil && x.turns(r, c) && !x.inOrder(r.Trace, c) {
				failed = append(failed, 0) // however much else is different: nothing else was turned on purpose
			}
		}
		for _, script := range some(spread(y.Shifted(confirmShift)), confirmSchedules-passed) {
			r, err := x.Run(ctx, y.Follow(script()))
			if err != nil {
				return err
			}
			if r.Trace != nil && x.turns(r, c) && (c.with == nil || r.Turned(c.with.first, c.with.second)) {
				without(near[0], r)
			}
		}
	}
	for _, turned := range failed {
		if passed == 0 || turned <= fewest {
			c.Failed++
		}
	}
	if passed+c.Failed > 0 { // otherwise what was tried before is all that is known
		c.Executions = passed + c.Failed
	}
	return err
}

// some returns the first of a list, at most n.
func some[T any](list []T, n int) []T { return list[:min(len(list), max(n, 0))] }

// both returns the second event of a suspect in an execution, and its first one; -1 for those that it lacks.
func (x *explainer) both(t *trace.Trace, c *suspect) (second, first int) {
	m := experiment.Match(x.Base, t)
	if c.Second >= 0 {
		return m.Of(c.Second), m.Of(c.First)
	}
	return experiment.Match(c.passing, t).Of(c.InPassing), m.Of(c.First)
}

// turns reports whether an execution has both events of a suspect, and not in their order.
func (x *explainer) turns(r *experiment.Result, c *suspect) bool {
	second, first := x.both(r.Trace, c)
	return !c.Waiting && second >= 0 && second < first
}

// inOrder reports whether an execution that has the two events of a suspect the other way round still has what they stand for in the suspect's
// order.
func (x *explainer) inOrder(t *trace.Trace, c *suspect) bool {
	return x.again(t, c) || x.pending(t, c) || x.waitsInstead(t, c)
}

// again reports whether the two instructions of a suspect are executed in its order in another place of an execution: by accesses
// that no serial order allows, or by a Wait that another thread's Add follows.
func (x *explainer) again(t *trace.Trace, c *suspect) bool {
	if c.Second < 0 || c.Waiting {
		return false
	}
	if x.Base.Events[c.First].Op == trace.OpWgWait {
		from := experiment.Match(x.Base, t).Of(c.First)
		second := &x.Base.Events[c.Second]
		return from >= 0 && second.Op == trace.OpWgAdd && slices.ContainsFunc(t.Events[from:], func(ev trace.Event) bool { return ev.Op == second.Op && ev.Site == second.Site })
	}
	if !x.Base.Events[c.First].Op.IsAccess() {
		return false
	}
	return slices.ContainsFunc(experiment.Broken(t), func(p [2]int) bool {
		return t.Events[p[0]].Site == x.Base.Events[c.First].Site && t.Events[p[1]].Site == x.Base.Events[c.Second].Site
	})
}

// pending reports whether the second of a suspect is an acquisition that has begun in an execution before the first one, but ends later, or
// never: then it does not come before the first.
func (x *explainer) pending(t *trace.Trace, c *suspect) bool {
	if c.Second < 0 || ops.AcquiresAt(x.Base, c.Second) == 0 {
		return false
	}
	m := experiment.Match(x.Base, t)
	at, first := m.Of(c.Second), m.Of(c.First)
	if at < 0 {
		return false
	}
	if got := ops.ObtainedAt(t, at); got < 0 || first > at && first < got {
		return true
	}
	own := &t.Events[at]
	return slices.ContainsFunc(t.Ending.Waiters, func(w trace.Waiter) bool { return w.Thread == own.Thread && w.Site == own.Site }) &&
		!slices.ContainsFunc(t.Events[at:], func(ev trace.Event) bool { return ev.Thread == own.Thread && ev.Site != own.Site })
}

// waitsInstead reports whether the critical section of a suspect's second event ends with a wait on a condition in an execution, and not in
// the base: what the thread did there comes after its wait.
func (x *explainer) waitsInstead(t *trace.Trace, c *suspect) bool {
	if c.Second < 0 || c.Waiting || ops.AcquiresAt(x.Base, c.Second) == 0 {
		return false
	}
	at := experiment.Match(x.Base, t).Of(c.Second)
	return at >= 0 && endsInWait(t, at) && !endsInWait(x.Base, c.Second)
}

// endsInWait reports whether a critical section that begins with an acquisition ends as its thread waits on a condition.
func endsInWait(t *trace.Trace, acquisition int) bool {
	lock := ops.AcquiresAt(t, acquisition)
	for i := acquisition + 1; i < len(t.Events); i++ {
		if t.Events[i].Thread == t.Events[acquisition].Thread && ops.ReleasesAt(t, i) == lock {
			return ops.Does(t.Events[i].Op) == ops.Wait
		}
	}
	return false
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
func (x *explainer) keeps(v *experiment.Result, o *suspect, first int) bool {
	if o.Second < 0 {
		other := experiment.Match(o.passing, v.Trace).Of(o.InPassing)
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
func (x *explainer) turnsAnother(v *experiment.Result, o *suspect) bool {
	objects := map[trace.Object]bool{}
	add := func(e int) { objects[x.Base.Events[e].Object], objects[ops.AcquiresAt(x.Base, e)] = true, true }
	add(o.First)
	if o.Second >= 0 {
		add(o.Second)
	}
	delete(objects, 0)
	concerns := func(e int) bool {
		return objects[x.Base.Events[e].Object] || objects[ops.AcquiresAt(x.Base, e)]
	}
	for k := range x.pairs {
		p := &x.pairs[k]
		if p.waiter != nil || p.first == o.First && p.second == o.Second || p == o.with || !v.Turned(p.first, p.second) {
			continue
		}
		if p.Passed > 0 && p.Failed == 0 || concerns(p.first) && concerns(p.second) {
			return true
		}
	}
	return false
}

// reversal is how an ordering was turned last: that way is tried first.
type reversal struct {
	turn int  // of Turns
	hold bool // instead
}

// reverse executes a schedule that has an ordering with the two the other way round, and the rest as closely as possible; nil if that
// could not be done.
func (x *explainer) reverse(ctx context.Context, v *experiment.Result, c *suspect, first int, how *reversal) (*experiment.Result, error) {
	y := x.On(v.Trace, x.Plan)
	turn := func() (*experiment.Result, error) {
		if c.Second < 0 || c.Waiting || v.At(c.Second) <= first {
			return nil, nil
		}
		second := v.At(c.Second)
		turns := y.Turns(first, second)
		var closest *experiment.Result
		fewest := 0
		for n := range turns {
			k := (how.turn + n) % len(turns)
			r, err := y.Turn(ctx, turns[k], first, second)
			if err != nil {
				return nil, err
			}
			if !r.Turned(first, second) || r.At(first) < 0 {
				continue
			}
			// Of the ways that turn other pairs, too, the one with the fewest shows what turning this one does.
			others := x.turnedBetween(v.Trace, r.Trace)
			if closest == nil || others < fewest || others == fewest && r.Verdict == experiment.Passes {
				closest, fewest, how.turn = r, others, k
			}
			if r.Verdict == experiment.Passes {
				break
			}
		}
		return closest, nil
	}
	if c.with != nil {
		return x.turnBoth(ctx, v.Trace, c.pair, c.with)
	}
	hold := func() (*experiment.Result, error) { return x.holdUntil(ctx, y, c, first) }
	ways := []func() (*experiment.Result, error){turn, hold}
	if how.hold {
		slices.Reverse(ways)
	}
	for n, way := range ways {
		r, err := way()
		if err != nil {
			return nil, err
		}
		if r != nil {
			how.hold = how.hold != (n == 1)
			return r, nil
		}
	}
	return nil, nil
}

// holdUntil lets the first of an ordering wait until the second has happened.
func (x *explainer) holdUntil(ctx context.Context, y *experiment.Experiment, c *suspect, first int) (*experiment.Result, error) {
	var until trace.Site
	switch {
	case c.Waiting:
		until = x.waiterAt(&c.Order)
	case c.Second >= 0:
		until = x.Base.Events[c.Second].Site
	default:
		until = c.passing.Events[c.InPassing].Site
	}
	for _, until := range []trace.Site{until, 0} { // it may be there more than once
		plan := y.Reordered(experiment.Before(y.Base, first), y.Base.Events[first].Site)
		if y.Base.Events[first].Site != 0 { // a timer fires when the others can do no more
			plan.Holds = holding(y.Base, first, until)
		}
		r, err := y.Run(ctx, plan)
		if err != nil {
			return nil, err
		}
		if r.Trace == nil {
			continue
		}
		if c.Waiting {
			if r.Passed() {
				return r, nil
			}
			continue
		}
		second := -1
		if c.Second < 0 {
			second = experiment.Match(c.passing, r.Trace).Of(c.InPassing)
		} else {
			second = experiment.Match(x.Base, r.Trace).Of(c.Second)
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
