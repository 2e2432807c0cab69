package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// suspect is an ordering that may be critical.
type suspect struct {
	report.Order
	passing *trace.Trace // turned it and did not fail
	pair    *pairOf      // that was turned; nil for an event that was delayed
	with    *pairOf      // that has to be turned together with pair; nil for none
	loose   bool         // with the two in their order, what else had to move keeps the execution from failing, too
}

// turned returns the pairs of an origin on which the failure depends alone: those with a control, if any has one, and of those that
// turn one another, the ones that turn least.
func (x *explainer) turned(origin report.Origin) (out []*suspect) {
	var critical []*pairOf
	for k := range x.pairs {
		if p := &x.pairs[k]; p.origin == origin && p.Passed > 0 && p.Failed == 0 {
			critical = append(critical, p)
		}
	}
	if slices.ContainsFunc(critical, func(p *pairOf) bool { return p.Controlled }) {
		critical = slices.DeleteFunc(critical, func(p *pairOf) bool { return !p.Controlled && p.waiter == nil })
	}
	for _, p := range critical {
		narrower := func(q *pairOf) bool { return q.Narrower(&p.Trial) }
		if !x.wakesTooLittle(p) && slices.ContainsFunc(critical, narrower) {
			continue
		}
		out = append(out, &suspect{
			Order:   report.Order{First: p.first, Second: p.second, Waiting: p.waiter != nil, Controlled: p.Controlled, Executions: p.Passed},
			passing: p.Passing, pair: p,
		})
	}
	return out
}

// wakesTooLittle reports whether a pair is that of a wake-up and a wait which never ends.
func (x *explainer) wakesTooLittle(p *pairOf) bool {
	return p.waiter == nil && (pattern.LosesWakeUp(x.Base, p.Passing, p.first, p.second) || pattern.WakesTooFew(x.Base, p.first, p.second))
}

// ranked returns suspects with the most telling first. early are those that delaying the failing thread showed.
func (x *explainer) ranked(early, turned []*suspect) []*suspect {
	type rank []int
	ranks := map[*suspect]rank{}
	for _, c := range turned {
		ranks[c] = x.rank(c)
	}
	slices.SortStableFunc(turned, func(a, b *suspect) int { return slices.Compare(ranks[a], ranks[b]) })
	if len(early) > 0 && len(turned) > 0 && x.misuse(turned[0]) && !x.misuse(early[0]) {
		early = nil // what delaying the failing thread shows follows from the misuse
	}
	out := slices.Concat(early, turned)
	if len(early) > 0 && len(turned) > 0 && x.tells(turned[0]) && !x.tells(early[0]) {
		out = slices.Concat(turned, early)
	}
	type places struct{ a, b trace.Site }
	listed := map[places]bool{} // the same two instructions, later in the execution, add nothing
	return slices.DeleteFunc(out, func(c *suspect) bool {
		if c.Second < 0 {
			return false
		}
		k := places{x.Base.Events[c.First].Site, x.Base.Events[c.Second].Site}
		again := listed[k]
		listed[k] = true
		return again
	})
}

// rank says how telling a suspect is, by what matters most first; less is better.
func (x *explainer) rank(c *suspect) []int {
	is := func(yes bool) int {
		if yes {
			return 0
		}
		return 1
	}
	talks := c.Waiting && ops.Of(c.pair.waiter.Op).Of == ops.Channel // where the other side comes to the channel says more
	waiting := c.Waiting && !talks
	if !x.stuck() { // what somebody still waits for has not failed
		waiting = !waiting
	}
	named, near, turned := x.named(c), -x.nearest(c), len(c.pair.Turned)
	if x.stuck() {
		named = min(named, 1)
	} else if named == unnamed {
		return []int{is(x.wakesTooLittle(c.pair)), is(waiting), is(!talks), named, near, turned}
	}
	return []int{is(x.wakesTooLittle(c.pair)), is(waiting), is(!talks), named, turned, near}
}

// tells reports whether a suspect's pattern says more than that one event comes before another.
func (x *explainer) tells(c *suspect) bool { return x.names != nil && x.named(c) < unnamed }

// unnamed is what named returns for no pattern.
const unnamed = 2

// named says how much the pattern of a suspect says; less is more.
func (x *explainer) named(c *suspect) int {
	if x.names == nil {
		return 0
	}
	switch x.names.Pattern(x.Base, c.passing, &c.Order) {
	case pattern.OrderViolation, pattern.Leak, pattern.Livelock:
		return unnamed
	case pattern.StolenWakeUp:
		return -1
	case pattern.Unserializable:
		return 1
	case pattern.CheckThenAct:
		if x.stuck() { // a thread that waits in a loop looks again after each wait
			return 1
		}
	}
	return 0
}

// nearest returns the event of a suspect that is nearest to the failure: that of a thread which failed or waits, if any.
func (x *explainer) nearest(c *suspect) int {
	end := &x.Base.Ending
	at := -1
	for _, e := range []int{c.First, c.Second} {
		th := x.Base.Events[e].Thread
		if x.stuck() && slices.ContainsFunc(end.Waiters, func(w trace.Waiter) bool { return w.Thread == th }) || !x.stuck() && th == end.Thread {
			at = max(at, e)
		}
	}
	if at < 0 {
		return c.First // before all others
	}
	return at
}

// misuse reports whether turning a pair shows how a program misused an operation.
func (x *explainer) misuse(c *suspect) bool {
	return x.names != nil && x.names.Misuses(x.Base, c.passing, &c.Order)
}

// settle tries a suspect in schedules near the base, and keeps it as confirmed or doubtful. It reports whether it is confirmed.
func (x *explainer) settle(ctx context.Context, c *suspect) (bool, error) {
	if slices.ContainsFunc(slices.Concat(x.confirmed, x.doubtful, x.refuted), func(o *suspect) bool {
		return o.First == c.First && o.Second == c.Second && o.InPassing == c.InPassing && o.with == c.with
	}) {
		return false, nil
	}
	near, err := x.near(ctx)
	if err == nil {
		err = x.confirm(ctx, c, near)
	}
	if err != nil {
		x.unsettled = append(x.unsettled, c)
		return false, err
	}
	switch {
	case c.Kept > 0 && c.KeptFailed == 0: // in no execution that was tried does it fail
		x.refuted = append(x.refuted, c)
	case c.Failed == 0:
		x.confirmed = append(x.confirmed, c)
		return true, nil
	case 2*c.Failed <= c.Executions && (c.Controlled || x.related(c)): // what fails more often than not the other way round does not decide
		x.doubtful = append(x.doubtful, c)
	default:
		x.refuted = append(x.refuted, c)
	}
	return false, nil
}

// related reports whether the events of a suspect depend on one another. Two that do not are named only if no execution speaks against it.
func (x *explainer) related(c *suspect) bool {
	return c.Waiting || c.pair != nil || depends(&x.Base.Events[c.First], x.second(c))
}

// second returns the second event of a suspect whose second is one: of the base or, if that has it not, of the execution that passes.
func (x *explainer) second(c *suspect) *trace.Event {
	if c.Second >= 0 {
		return &x.Base.Events[c.Second]
	}
	return &c.passing.Events[c.InPassing]
}

// meets moves the first event of a suspect, before which its thread was delayed, to the first one from there on that depends on the second: the
// thread is at another operation where it is delayed. It reports false if none does, and both events are of memory or a lock.
func (x *explainer) meets(c *suspect) bool {
	if x.related(c) {
		return true
	}
	first, second := &x.Base.Events[c.First], x.second(c)
	for i := c.First + 1; i < len(x.Base.Events) && i != c.Second; i++ {
		if ev := &x.Base.Events[i]; ev.Thread == first.Thread && turnable(x.Base, i) && depends(ev, second) {
			c.First = i
			return true
		}
	}
	plain := func(ev *trace.Event) bool {
		switch ops.Of(ev.Op).Of {
		case ops.Memory, ops.Mutex, ops.RWLock:
			return true
		}
		return false
	}
	return !plain(first) || !plain(second)
}

// written returns, for an event that only reads in the beginning of an operation, the part of the operation that writes the same memory,
// and the event itself for others: the store of an atomic.Value first loads.
func written(t *trace.Trace, e int) int {
	ev := &t.Events[e]
	if ops.Does(ev.Op) != ops.AtomicRead {
		return e
	}
	for i := e + 1; i < len(t.Events); i++ {
		part := &t.Events[i]
		switch {
		case part.Thread != ev.Thread:
		case part.Flags&trace.FlagNoDecision == 0 || part.Site != ev.Site:
			return e
		case part.Object == ev.Object && ops.Of(part.Op).Of == ops.Memory && ops.Changes(part):
			return i
		}
	}
	return e
}

// conclude lists the orderings that are confirmed, or if none is, the least doubtful one, or one not confirmed within the limits, and
// otherwise says why none is named.
func (x *explainer) conclude(ctx context.Context) error {
	list := x.confirmed
	if len(list) == 0 && len(x.doubtful) > 0 {
		slices.SortStableFunc(x.doubtful, func(a, b *suspect) int { return a.Failed*b.Executions - b.Failed*a.Executions })
		list = x.doubtful[:1]
	}
	if len(list) == 0 {
		for _, o := range x.unsettled {
			if o.Controlled && o.Failed < o.Executions {
				o.Unconfirmed = true
				list = []*suspect{o}
				break
			}
		}
	}
	c := &x.critical
	if err := unlessLimit(x.interrupted(ctx)); err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(o *suspect) bool {
		return !x.meets(o) || c.Interrupted != nil && ops.Of(x.Base.Events[o.First].Op).Of == ops.Timer // whose signal only runs the handler
	})
	for _, o := range list[:min(len(list), explainOrders)] {
		if o.First = written(x.Base, o.First); o.Second >= 0 && !o.Waiting {
			o.Second = written(x.Base, o.Second)
		} else if o.Second < 0 && o == list[0] {
			o.InPassing = written(o.passing, o.InPassing)
		}
		c.Orders = append(c.Orders, o.Order)
	}
	if len(list) > 0 {
		c.Passing = list[0].passing
		for k := range x.pairs {
			if t := x.pairs[k].Passing; t != nil && len(c.others) < explainCompared {
				c.others = append(c.others, t)
			}
		}
		other, err := x.interrupts(ctx, list[0])
		if err := unlessLimit(err); err != nil {
			return err
		}
		if other != nil {
			c.Orders = append([]report.Order{list[0].Order, *other}, slices.DeleteFunc(c.Orders[1:], func(o report.Order) bool { return o.First == other.First && o.Second == other.Second })...)
			c.Orders = c.Orders[:min(len(c.Orders), explainOrders)]
		}
		if with := list[0].with; with != nil {
			second := list[0].Order
			second.First, second.Second = with.first, with.second
			c.Orders = []report.Order{list[0].Order, second}
		}
		if ops.Does(x.Base.Events[c.Orders[0].First].Op) == ops.Create {
			c.Reason = report.StartsTooLate
		}
	} else if c.Interrupted == nil {
		if err := x.reason(ctx); err != nil {
			return err
		}
	}
	c.Base, c.Executions, c.Complete = x.Base, x.Executions(), x.Complete() && !x.omitted
	if c.Cut = !x.Complete() && len(x.confirmed) == 0 && c.Interrupted == nil; c.Cut { // what is confirmed stays the headline
		c.Reason = x.limit()
	}
	return nil
}
