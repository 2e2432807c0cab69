package experiment

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Follow returns the plan of a script that was derived from the base.
func (x *Experiment) Follow(script []schedule.Step) schedule.Plan {
	p := x.Plan
	p.Script, p.Threads = script, x.Base.Threads
	return p
}

// Steps returns the steps of a script with events in another order than they have happened. What ended because its time had come may
// end before it there, as far as the plan's Delays allow.
func Steps(events []trace.Event) []schedule.Step {
	steps := schedule.Steps(events)
	n := 0
	for i := range events {
		if ev := &events[i]; ev.Flags&trace.FlagNoDecision == 0 {
			steps[n].Timeout = steps[n].Timeout || timedOut(ev)
			n++
		}
	}
	return steps
}

// timedOut reports whether an event happened because a time had come.
func timedOut(ev *trace.Event) bool {
	return ev.Flags&trace.FlagTimeout != 0 || ops.Of(ev.Op).Blocks == ops.UntilTime
}

// First returns the numbers of an execution's first n events, in their order.
func First(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// Before returns the numbers of the events of an execution up to where the thread of an event comes to it: those before the event, but
// for what the thread did instead of it, such as the end of the time for which it waits.
func Before(t *trace.Trace, event int) []int {
	order := First(event)
	for i := event - 1; i >= 0; i-- {
		if e := &t.Events[i]; e.Thread == t.Events[event].Thread {
			if arrives(e) || e.Site != t.Events[event].Site {
				break
			}
			order = slices.Delete(order, i, i+1)
		}
	}
	return order
}

// Reordered returns the plan that executes events of the base in an order, which may be a prefix of a reordering, and
// records everything. more are memory instructions that become scheduling points; where the order changes threads at an
// access, that has to be one, too.
func (x *Experiment) Reordered(order []int, more ...trace.Site) schedule.Plan {
	t := x.Base
	points := slices.Compact(slices.Sorted(slices.Values(slices.Concat(x.Plan.Points, more))))
	parts := Parts(t)
	points = slices.DeleteFunc(points, func(s trace.Site) bool { return parts[s] })
	add := func(e int) {
		ev := &t.Events[e]
		if ev.Flags&trace.FlagNoDecision != 0 && (ev.Op.IsAccess() || ev.Op == trace.OpFree) && !slices.Contains(points, ev.Site) && !parts[ev.Site] {
			points = append(points, ev.Site)
		}
	}
	next := make([]int, len(t.Events)) // each event's successor in its thread
	last := map[trace.ThreadID]int{}
	for i := range t.Events {
		next[i] = -1
		if j, ok := last[t.Events[i].Thread]; ok {
			next[j] = i
		}
		last[t.Events[i].Thread] = i
	}
	for k := 1; k < len(order); k++ {
		if t.Events[order[k]].Thread == t.Events[order[k-1]].Thread {
			continue
		}
		add(order[k])
		if n := next[order[k-1]]; n >= 0 {
			add(n)
		}
	}
	add(order[len(order)-1])
	var events []trace.Event
	for _, e := range order {
		ev := t.Events[e]
		if slices.Contains(points, ev.Site) && (ev.Op.IsAccess() || ev.Op == trace.OpFree) {
			ev.Flags &^= trace.FlagNoDecision
		}
		events = append(events, ev)
	}
	return Everything(schedule.Plan{
		Seed: x.Plan.Seed, Repeat: 1, Mode: schedule.Tolerant, Script: Steps(events), Threads: t.Threads,
		Policy: schedule.Fair, Points: points, ExpectStatus: x.Plan.ExpectStatus, Delays: x.setting.Delays,
		MaxSteps: x.setting.Budget(t, points), Omit: x.Plan.Omit,
	})
}

// HoldBefore returns the hold of a thread before an event of t until another thread has done until, or, if that is 0,
// until the others can do no more.
func HoldBefore(t *trace.Trace, event int, until trace.Site) schedule.Hold {
	ev := &t.Events[event]
	h := schedule.Hold{Site: ev.Site, Thread: ev.Thread, Until: until, When: schedule.Done}
	for i := range t.Events[:event+1] {
		if e := &t.Events[i]; e.Thread == ev.Thread && e.Site == ev.Site && arrives(e) {
			h.Arrival++
		}
	}
	if !arrives(ev) { // the operation that it came before is pending
		h.Arrival++
	}
	return h
}

// arrives reports whether a thread came to an instruction with an event: a detour leaves the pending operation.
func arrives(ev *trace.Event) bool {
	spec := ops.Of(ev.Op)
	return spec.Does != ops.Leave && spec.Does != ops.Start && spec.Blocks != ops.UntilDelivery && ev.Op != trace.OpResume && ev.Flags&trace.FlagForced == 0
}

// Sample returns the plan of the nth execution under other schedules than the base's, with the base's scheduling points.
func (x *Experiment) Sample(n int, seed uint64) schedule.Plan {
	return schedule.Plan{
		Seed: seed + uint64(n) | x.Plan.Seed&schedule.Comparable, Repeat: 1,
		// By priorities, a thread may come long after one that was created later; by a random walk, it rarely does.
		Policy: [...]schedule.Policy{schedule.POS, schedule.Random}[n%2],
		Points: x.Plan.Points, Delays: schedule.NoDelays, ExpectStatus: x.Plan.ExpectStatus, Record: true,
		MaxSteps: x.setting.Budget(x.Base, x.Plan.Points),
	}
}

// Neighbours executes the schedules that turn two dependent events of the base (Dependent), and then those of Shifted(most), until
// visit returns false or an error. all is false if Dependent left pairs out.
func (x *Experiment) Neighbours(ctx context.Context, most int, visit func(*Result) (more bool, err error)) (all bool, err error) {
	run := func(script []schedule.Step) (bool, error) {
		r, err := x.Run(ctx, x.Follow(script))
		if err != nil {
			return false, err
		}
		return visit(r)
	}
	pairs, all := Dependent(x.Base)
	for _, p := range pairs {
		for _, turn := range x.Turns(p[0], p[1]) {
			if more, err := run(turn.Turned()); !more || err != nil {
				return all, err
			}
		}
	}
	for _, script := range x.Shifted(most) {
		if more, err := run(script()); !more || err != nil {
			return all, err
		}
	}
	return all, nil
}

// Shifted returns what makes the schedules in which one context switch of the base comes up to most scheduling decisions earlier or
// later: a schedule is as long as the execution, and there are several for each of its switches.
func (x *Experiment) Shifted(most int) (out []func() []schedule.Step) {
	events := slices.DeleteFunc(slices.Clone(x.Base.Events), func(ev trace.Event) bool { return ev.Flags&trace.FlagNoDecision != 0 })
	left := map[trace.ThreadID]int{} // events of a thread that are not before i
	for i := range events {
		left[events[i].Thread]++
	}
	for i := 1; i < len(events); i++ {
		from, to := events[i-1].Thread, events[i].Thread
		left[from]--
		if from == to {
			continue
		}
		for n := 1; n <= most; n++ {
			if i >= n && sameThread(events[i-n:i]) {
				out = append(out, func() []schedule.Step { return earlier(events, i, n) })
			}
			if left[from] >= n {
				out = append(out, func() []schedule.Step { return later(events, i, n) })
			}
		}
	}
	return out
}

// sameThread reports whether all events are of one thread.
func sameThread(events []trace.Event) bool {
	return !slices.ContainsFunc(events, func(ev trace.Event) bool { return ev.Thread != events[0].Thread })
}

// earlier returns the schedule in which the switch before event i comes n operations earlier: these come after the next thread's interval.
func earlier(events []trace.Event, i, n int) []schedule.Step {
	end := i + 1
	for end < len(events) && events[end].Thread == events[i].Thread {
		end++
	}
	return Steps(slices.Concat(events[:i-n], events[i:end], events[i-n:i], events[end:]))
}

// later returns the schedule in which the switch before event i comes n operations later: the next ones of the thread before it.
func later(events []trace.Event, i, n int) []schedule.Step {
	var mine, rest []trace.Event
	for j := i; j < len(events); j++ {
		if events[j].Thread == events[i-1].Thread && len(mine) < n {
			mine = append(mine, events[j])
		} else {
			rest = append(rest, events[j])
		}
	}
	return Steps(slices.Concat(events[:i], mine, rest))
}
