package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// interruptsTries is how many operations of a thread are tried as the other half of what another thread comes between.
const interruptsTries = 4

// interrupts looks for the other half of an ordering. If the execution does not fail with b before a, nor with b after a later operation c of
// a's thread, b must not come between the two, as in the unserialisable cases of AVIO (Lu, Tucek, Qin and Zhou, ASPLOS'06, section 3), but
// for any operations. One ordering alone would suggest that b has to wait for c, or a for b. It returns the other ordering, nil for none, and
// marks the first as one half.
func (x *explainer) interrupts(ctx context.Context, c *suspect) (*report.Order, error) {
	if x.names == nil || c.with != nil || c.First < 0 || !x.halves(c) {
		return nil, nil
	}
	for _, other := range x.confirmed {
		if other != c && x.completes(c, other) && !x.staysBetween(c, &other.Order) && !x.staysBetween(other, &c.Order) {
			c.Between = true
			return &other.Order, nil
		}
	}
	found, err := x.behind(ctx, c)
	if found == nil && err == nil {
		found, err = x.ahead(ctx, c)
	}
	if found != nil && x.staysBetween(c, found) {
		found = nil
	}
	c.Between = found != nil
	return found, err
}

// staysBetween reports whether the execution that shows that a failure depends on an ordering has the operation between the two others all
// the same: then that is not what fails.
func (x *explainer) staysBetween(c *suspect, other *report.Order) bool {
	if c.passing == nil {
		return false
	}
	m := experiment.Match(x.Base, c.passing)
	in := func(o *report.Order, second bool) int {
		switch {
		case !second:
			return m.Of(o.First)
		case o.Second >= 0 && !o.Waiting:
			return m.Of(o.Second)
		case !o.Waiting:
			return o.InPassing
		}
		return -1
	}
	a, b := &c.Order, other
	if b.First < a.First {
		a, b = b, a
	}
	first, late := in(a, false), in(b, true)
	one, two := in(a, true), in(b, false)
	between := func(e int) bool { return e > first && e < late }
	return first >= 0 && late >= 0 && one >= 0 && two >= 0 && between(one) && between(two)
}

// halves reports whether an ordering can be one half of an interruption: no other pattern tells what it is.
func (x *explainer) halves(c *suspect) bool {
	switch x.names.Pattern(x.Base, c.passing, &c.Order) {
	case pattern.OrderViolation, pattern.ClosedSend, pattern.DoubleClose:
		return turnable(x.Base, c.First) && (c.Second < 0 || c.Waiting || turnable(x.Base, c.Second))
	}
	return false
}

// turnable reports whether an event of an execution is one whose order a schedule determines.
func turnable(t *trace.Trace, e int) bool {
	ev := &t.Events[e]
	if auxiliary(ev.Op) || ev.Site == 0 || ev.Flags&trace.FlagNoDecision != 0 {
		return false
	}
	switch ops.Does(ev.Op) {
	case ops.Create, ops.Join, ops.Release, ops.ReleaseShared, ops.None, ops.Stop, ops.Fail:
		return false
	}
	return ops.Of(ev.Op).Of != ops.WaitGroup
}

// completes reports whether another ordering is the other half of c: the first of one and the second of the other are of one thread.
func (x *explainer) completes(c, other *suspect) bool {
	t := x.Base
	a, b := c, other
	if b.First < a.First {
		a, b = b, a
	}
	if a.Second < 0 || a.Waiting || a.with != nil || b.with != nil || b.Second < 0 && b != c { // the execution that passes is that of c
		return false
	}
	one, two := t.Events[a.First].Thread, t.Events[a.Second].Thread
	if x.polled(a.passing, a.Second) {
		return false
	}
	if t.Events[b.First].Thread != two || b.Second >= 0 && t.Events[b.Second].Thread != one || b.Second >= 0 && !b.Waiting && b.Second < a.Second {
		return false
	}
	if b.Second < 0 {
		own := b.passing.Events[b.InPassing].Thread
		return int(own) < len(b.passing.Threads) && b.passing.Threads[own].Name == t.Threads[one].Name
	}
	return true
}

// behind looks for c of a, the first of an ordering, and b, the second: with b's thread held from what it does after a until c is done,
// the execution does not fail. Where the execution ends before c, the one that does not fail has it.
func (x *explainer) behind(ctx context.Context, c *suspect) (*report.Order, error) {
	if c.Second < 0 || c.Waiting || x.polled(c.passing, c.Second) {
		return nil, nil
	}
	one, two := x.Base.Events[c.First].Thread, x.Base.Events[c.Second].Thread
	window := x.window(two, c.First+1, len(x.Base.Events))
	if len(window) == 0 {
		return nil, nil
	}
	for _, h := range x.later(c, window, one) {
		inside := window
		if h.Second >= 0 && !h.Waiting {
			inside = slices.DeleteFunc(slices.Clone(window), func(e int) bool { return e > h.Second })
		}
		if len(inside) == 0 {
			continue
		}
		for _, from := range slices.Compact([]int{c.Second, inside[0]}) {
			r, fails, err := x.held(ctx, from, h.until)
			if err != nil {
				return nil, err
			}
			if from == c.Second && from != inside[0] && fails {
				h.Whole = inside[0] // what the thread did before decides, too
			}
			if r != nil && (r.Passed() || h.Second >= 0 && !h.Waiting && r.At(h.Second) >= 0 && !(r.At(from) >= 0 && r.At(from) < r.At(h.Second))) {
				return &h.Order, nil
			}
		}
	}
	return nil, nil
}

// half is an ordering that may be the other half of another one, and the instruction of its second.
type half struct {
	report.Order
	until trace.Site
}

// later returns the orderings of the first operations of a thread behind c that depend on what another one does, which is window.
func (x *explainer) later(c *suspect, window []int, th trace.ThreadID) (out []half) {
	add := func(t *trace.Trace, events []int, e int, o report.Order) {
		if b := conflict(t, events, e); b >= 0 && len(out) < interruptsTries {
			if t == x.Base {
				o.First = b
			}
			o.Executions, o.Kept, o.KeptFailed = 1, 1, 1
			out = append(out, half{o, t.Events[e].Site})
		}
	}
	for e := c.Second + 1; e < len(x.Base.Events); e++ {
		if x.Base.Events[e].Thread == th && turnable(x.Base, e) {
			add(x.Base, slices.DeleteFunc(slices.Clone(window), func(b int) bool { return b > e }), e, report.Order{Second: e})
		}
	}
	for i := range x.Base.Ending.Waiters {
		w := &x.Base.Ending.Waiters[i]
		waits := trace.Event{Thread: th, Op: w.Op, Object: w.Object, Size: 1}
		if w.Thread != th || w.Site == 0 || w.Object == 0 || w.Ready {
			continue
		}
		for _, b := range slices.Backward(window) {
			if depends(&x.Base.Events[b], &waits) {
				out = append(out, half{report.Order{First: b, Second: lastOf(x.Base, th), Waiting: true, Executions: 1, Kept: 1, KeptFailed: 1}, w.Site})
				break
			}
		}
	}
	if len(out) > 0 || c.passing == nil {
		return out
	}
	m, back := experiment.Match(x.Base, c.passing), experiment.Match(c.passing, x.Base)
	var there []int
	for _, e := range window {
		if i := m.Of(e); i >= 0 {
			there = append(there, i)
		}
	}
	first := m.Of(c.First)
	for e := first + 1; first >= 0 && e < len(c.passing.Events); e++ {
		if c.passing.Events[e].Thread == c.passing.Events[first].Thread && back.Of(e) < 0 && turnable(c.passing, e) {
			add(c.passing, there, e, report.Order{First: c.Second, Second: -1, InPassing: e})
		}
	}
	return out
}

// ahead looks for a of b, the first of an ordering, and c, the second, which may not have happened: with its thread held before a until
// another has done what depends on a, the execution does not fail.
func (x *explainer) ahead(ctx context.Context, c *suspect) (*report.Order, error) {
	two := x.Base.Events[c.First].Thread
	one, end := two, len(x.Base.Events)
	if c.Second >= 0 {
		one = x.Base.Events[c.Second].Thread
		if !c.Waiting {
			end = c.Second
		}
	} else if own := c.passing.Events[c.InPassing].Thread; int(own) < len(c.passing.Threads) {
		name := c.passing.Threads[own].Name
		one = trace.ThreadID(slices.IndexFunc(x.Base.Threads, func(th trace.Thread) bool { return th.Name == name }))
	}
	if one < 0 || one == two {
		return nil, nil
	}
	tries := 0
	for e := c.First - 1; e >= 0 && tries < interruptsTries; e-- {
		if x.Base.Events[e].Thread != one || !turnable(x.Base, e) {
			continue
		}
		b := conflict(x.Base, []int{c.First}, e)
		if b < 0 {
			b = conflict(x.Base, x.window(two, e+1, end), e)
		}
		if b < 0 {
			continue
		}
		tries++
		r, _, err := x.held(ctx, e, x.Base.Events[b].Site)
		if err != nil {
			return nil, err
		}
		if r != nil && r.Turned(e, b) && !x.polled(r.Trace, b) {
			return &report.Order{First: e, Second: b, Executions: 1, Kept: 1, KeptFailed: 1}, nil
		}
	}
	return nil, nil
}

// polled reports whether the thread of an event that reads memory has read other values there, in the base or in another execution. One
// that waits in a loop for a write does not come between that and what was to be before it. Compilers read at other instructions within
// the loop than ahead of it.
func (x *explainer) polled(other *trace.Trace, e int) bool {
	ev := &x.Base.Events[e]
	if ops.Of(ev.Op).Of != ops.Memory || ops.Changes(ev) {
		return false
	}
	for _, t := range []*trace.Trace{x.Base, other} {
		if t == nil {
			continue
		}
		var same, changed bool // it has read the value of the event, and another one
		for i := range t.Events {
			if r := &t.Events[i]; r.Thread == ev.Thread && r.Op == ev.Op && r.Object == ev.Object {
				same, changed = same || r.Value == ev.Value, changed || r.Value != ev.Value
			}
		}
		if same && changed {
			return true
		}
	}
	return false
}

// window returns the events of a thread from one number to another whose order can be turned.
func (x *explainer) window(th trace.ThreadID, from, to int) (out []int) {
	for e := from; e < to; e++ {
		if x.Base.Events[e].Thread == th && turnable(x.Base, e) {
			out = append(out, e)
		}
	}
	return out
}

// conflict returns the last of some events on which an event of another thread depends, -1 for none. Two critical sections of a lock in
// which the threads access nothing in common do not.
func conflict(t *trace.Trace, events []int, e int) int {
	for _, b := range slices.Backward(events) {
		one, two := &t.Events[b], &t.Events[e]
		if looks(one) && looks(two) || !depends(one, two) && !closes(one, two) {
			continue
		}
		if lock := ops.AcquiresAt(t, e); lock == 0 || lock != ops.AcquiresAt(t, b) || pattern.Conflict(t, min(b, e), max(b, e)) {
			return b
		}
	}
	return -1
}

// looks reports whether an event only tells its thread how an object is.
func looks(ev *trace.Event) bool {
	does := ops.Does(ev.Op)
	return does == ops.Poll || does == ops.Inspect
}

// closes reports whether an event closes the descriptor that another one uses, or would use if it were still open.
func closes(a, b *trace.Event) bool {
	one, two := ops.Of(a.Op), ops.Of(b.Op)
	return one.Of == ops.Descriptor && two.Of == ops.Descriptor && a.Aux == b.Aux && (one.Does == ops.Close || two.Does == ops.Close)
}

// held executes the base with the thread of an event held before it until another thread has done until. It returns nil if that fails, or
// is not known to pass; fails says that it fails as the base does.
func (x *explainer) held(ctx context.Context, event int, until trace.Site) (passing *experiment.Result, fails bool, err error) {
	events := x.Base.Events
	rest := slices.DeleteFunc(slices.Clone(events[event:]), func(ev trace.Event) bool { return ev.Thread == events[event].Thread })
	plan := x.Follow(experiment.Steps(slices.Concat(events[:event], rest)))
	plan.Holds = []schedule.Hold{experiment.HoldBefore(x.Base, event, until)}
	r, err := x.Run(ctx, plan)
	if err != nil || r.Trace == nil || !r.Held() {
		return nil, false, err
	}
	if r.Verdict != experiment.Passes {
		return nil, r.Verdict == experiment.Same, nil
	}
	return r, false, nil
}
