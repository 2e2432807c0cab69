package experiment

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Script makes the script of a schedule. It is as long as the execution, and most are not needed.
type Script func() []schedule.Step

// Turn is a schedule that turns two events, with controls that differ from it in the place of one of them.
type Turn struct {
	Turned  Script // the later event comes before the earlier one
	Control Script // it does not; the threads' other operations are as in Turned
	Near    Script // the events are neighbours, as in Turned, but in their order

	choices []Script // as Turned, but the earlier event is a select that tries another case first
}

// Turns returns schedules in which event second of the base comes before event first, if both are
// scheduling decisions: one with the operations of first's thread between them moved behind second, and
// one with those of second's thread moved before first. The controls leave first, or second, where it was, and the
// near ones move everything but the turning of the two.
// An acquisition of a lock stands for its critical section: if the lock stayed acquired, the other thread would wait, and
// the thread that moved would go on to whatever it does next.
func (x *Experiment) Turns(first, second int) []Turn {
	t := x.Base
	const decision = trace.FlagNoDecision
	if t.Events[first].Flags&decision != 0 || t.Events[second].Flags&decision != 0 {
		return nil
	}
	steps, before := x.events.script()
	// apart returns the steps of events of a thread, and those of the others from one event up to another.
	apart := func(in []int, to int) (own, others []schedule.Step) {
		at := before[in[0]]
		for _, e := range in {
			if t.Events[e].Flags&decision != 0 {
				continue
			}
			own = append(own, steps[before[e]])
			others = append(others, steps[at:before[e]]...)
			at = before[e] + 1
		}
		if at == before[in[0]]+1 { // most events are alone
			return own, steps[at:before[to]]
		}
		return own, append(others, steps[at:before[to]]...)
	}
	a, between := apart(section(t, first, second), second)
	b, tail := apart(section(t, second, len(t.Events)), len(t.Events))
	type part struct {
		steps  []schedule.Step
		thread trace.ThreadID // whose steps are meant if own is set, and otherwise those of all others; -1 for all
		own    bool
	}
	all := func(steps []schedule.Step) part { return part{steps, -1, false} }
	with := func(parts ...part) Script {
		return func() []schedule.Step {
			out := append(make([]schedule.Step, 0, len(steps)), steps[:before[first]]...)
			for _, p := range append(parts, all(tail)) {
				if p.thread < 0 {
					out = append(out, p.steps...)
					continue
				}
				for i := range p.steps {
					if (p.steps[i].Thread == p.thread) == p.own {
						out = append(out, p.steps[i])
					}
				}
			}
			return out
		}
	}
	mine, others := part{between, a[0].Thread, true}, part{between, a[0].Thread, false}
	theirs, rest := part{between, b[0].Thread, true}, part{between, b[0].Thread, false}
	turns := []Turn{
		{Control: with(all(a), others, all(b), mine), Near: with(others, all(a), all(b), mine)},
		{Control: with(theirs, all(a), rest, all(b)), Near: with(theirs, all(a), all(b), rest)},
	}
	for k, way := range choosing(t, first) {
		late := slices.Clone(a)
		late[0] = way
		for i, script := range []Script{with(others, all(b), all(late), mine), with(theirs, all(b), all(late), rest)} {
			if k == 0 {
				turns[i].Turned = script
			} else {
				turns[i].choices = append(turns[i].choices, script)
			}
		}
	}
	return turns
}

// Closer returns the schedule in which event second of the base, which comes after event first of another thread, comes as soon as it can after
// what first stands for: what else first's thread does in between comes later.
func (x *Experiment) Closer(first, second int) []schedule.Step {
	t := x.Base
	with := section(t, first, second)
	until := section(t, second, len(t.Events))
	var before, own, later []trace.Event
	for i := first; i <= until[len(until)-1]; i++ {
		switch ev := t.Events[i]; {
		case slices.Contains(with, i):
			before = append(before, ev)
		case i <= second && ev.Thread != t.Events[first].Thread, slices.Contains(until, i):
			own = append(own, ev)
		default:
			later = append(later, ev)
		}
	}
	return Steps(slices.Concat(t.Events[:first], before, own, later, t.Events[until[len(until)-1]+1:]))
}

// mostCases is how many cases of a select are tried first, each in its turn.
const mostCases = 4

// choosing returns the ways in which event e can happen: one, or if it is a select, one for each case to try first. The cases have
// other numbers there than in the source, so which one another case takes has to be tried.
func choosing(t *trace.Trace, e int) []schedule.Step {
	ways := Steps(t.Events[e : e+1])
	if _, ok := takes(t, e); ok {
		ev := &t.Events[e]
		for k := range min(int(ev.Size), mostCases) {
			if other := ways[0]; uint64(k+1) != ev.Aux {
				other.Choice = k + 1
				ways = append(ways, other)
			}
		}
	}
	return ways
}

// takes returns the case that a select took, by its position in the source.
func takes(t *trace.Trace, e int) (taken uint64, ok bool) {
	ev := &t.Events[e]
	if ev.Op != trace.OpSelect {
		return 0, false
	}
	for i := range t.Events[e+1:] {
		switch next := &t.Events[e+1+i]; {
		case next.Thread != ev.Thread:
		case next.Op == trace.OpSelectCase:
			return next.Value, true
		case next.Op == trace.OpSelect:
			return 0, false
		}
	}
	return 0, false
}

// Turn executes the schedule of a turn of two events of the base. Where the first of them is a select, that may take the same case as in
// the base although another one is ready then: so it tries one case after the other first until the select takes another one.
func (x *Experiment) Turn(ctx context.Context, turn Turn, first, second int) (*Result, error) {
	r, err := x.Run(ctx, x.Follow(turn.Turned()))
	for _, script := range turn.choices {
		if err != nil || !r.Turned(first, second) || x.choosesAnother(r, first) {
			break
		}
		var other *Result
		if other, err = x.Run(ctx, x.Follow(script())); err == nil && other.Turned(first, second) && x.choosesAnother(other, first) {
			r = other
		}
	}
	return r, err
}

// choosesAnother reports whether a select of the base takes another case in an execution.
func (x *Experiment) choosesAnother(r *Result, e int) bool {
	at := r.At(e)
	if at < 0 {
		return true
	}
	one, _ := takes(x.Base, e)
	two, ok := takes(r.Trace, at)
	return ok && one != two
}

// Trial is what the executions that turned a pair of events showed.
type Trial struct {
	Passed, Failed int // of those that turned it; an Unknown one counts as failed
	// Controlled says that the failure came again in the control of one that passed, and Near that it did in the near one, which
	// differs in no other pair.
	Controlled, Near bool
	Turned           []int        // the fewest pairs that one which passed turned, the pair itself included, by their indices
	Passing          *trace.Trace // the first that passed
}

// Try turns pair k of pairs of events of the base, and executes controls of what passes until one fails as it should. If near is
// set, it looks at the near controls first, and a failure in one way to turn the pair does not keep it from the other; otherwise
// one in which the earlier event is missing does not count, because then something else is different, too.
func (x *Experiment) Try(ctx context.Context, pairs [][2]int, k int, near bool) (t Trial, err error) {
	first, second := pairs[k][0], pairs[k][1]
	// control reports whether a control fails as it should.
	control := func(script Script) (*Result, bool, error) {
		r, err := x.Run(ctx, x.Follow(script()))
		return r, err == nil && r.Trace != nil && r.Verdict == Same && !r.Turned(first, second), err
	}
	var failed []int // how many pairs were turned in those that failed
	for _, turn := range x.Turns(first, second) {
		r, err := x.Turn(ctx, turn, first, second)
		if err != nil {
			return t, err
		}
		if !r.Turned(first, second) || !near && r.Verdict == Passes && r.At(first) < 0 {
			continue
		}
		if r.Verdict != Passes {
			t.Failed++
			if failed = append(failed, len(r.turned(pairs, k))); !near && len(failed) > 1 {
				return t, nil
			}
			continue
		}
		if t.Passed++; t.Passing == nil {
			t.Passing = r.Trace
		}
		if near && !t.Near && r.has(pairs[k]) {
			c, fails, err := control(turn.Near)
			if err != nil {
				return t, err
			}
			if t.Near = fails && c.differsIn(r, pairs, k); t.Near {
				t.Turned = []int{k}
			}
		}
		if t.Near {
			continue
		}
		turned := r.turned(pairs, k)
		if t.Turned == nil || len(turned) < len(t.Turned) {
			t.Turned = turned
		}
		if !t.Controlled {
			if _, t.Controlled, err = control(turn.Control); err != nil {
				return t, err
			}
		}
	}
	if !near && t.Passed > 0 {
		// What moves far more than the pair may bring the failure about in another way.
		t.Failed = len(slices.DeleteFunc(failed, func(n int) bool { return n > len(t.Turned) }))
	}
	return t, nil
}

// turned returns those of the pairs that the execution turned, pair k included. What no longer happens was not turned.
func (r *Result) turned(pairs [][2]int, k int) (out []int) {
	for n, p := range pairs {
		if n == k || r.At(p[0]) >= 0 && r.Turned(p[0], p[1]) {
			out = append(out, n)
		}
	}
	return out
}

// has reports whether the execution has both events of a pair.
func (r *Result) has(p [2]int) bool { return r.At(p[0]) >= 0 && r.At(p[1]) >= 0 }

// differsIn reports whether two executions differ in the order of pair k, and of no other of which both have both events.
func (r *Result) differsIn(o *Result, pairs [][2]int, k int) bool {
	for n, p := range pairs {
		if r.has(p) && o.has(p) && (r.Turned(p[0], p[1]) != o.Turned(p[0], p[1])) != (n == k) {
			return false
		}
	}
	return true
}

// Narrower reports whether a turned some of what b turned, and nothing else.
func (a *Trial) Narrower(b *Trial) bool {
	return len(a.Turned) < len(b.Turned) && !slices.ContainsFunc(a.Turned, func(n int) bool { return !slices.Contains(b.Turned, n) })
}

// section returns the events of a thread that move with one of its events: itself, and if it acquires a lock, those up to
// the release, if that comes before event end.
func section(t *trace.Trace, event, end int) []int {
	ev := &t.Events[event]
	in := []int{event}
	if lock := ops.AcquiresAt(t, event); lock != 0 && ops.Of(ev.Op).Done(ev) {
		depth := 1 // of a lock that a thread may acquire again
		for i := event + 1; i < min(end, event+sectionMost); i++ {
			own := &t.Events[i]
			if own.Thread != ev.Thread {
				continue
			}
			in = append(in, i)
			if ops.AcquiresAt(t, i) == lock && ops.Of(own.Op).Done(own) {
				depth++
			}
			if ops.ReleasesAt(t, i) == lock {
				if depth--; depth == 0 {
					return in
				}
			}
		}
	}
	return in[:1]
}

// sectionMost bounds how far a release may be from its acquisition.
const sectionMost = 4096
