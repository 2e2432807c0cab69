package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// harm looks for races that finding i depends on. It repeats the failing execution with the
// instructions of all races as scheduling points. Then, for each instance of a race that it shows, it
// makes two executions that turn the accesses. In the first the earlier access's thread waits before its
// access until the other is done; in the second the later access's thread runs up to and including its
// access before the earlier one. The rest of the schedule is followed as closely as possible. Controls
// differ from such an execution in the place of one access alone, and turn the same critical sections and
// other operations. The failure depends on the instance in either of two cases:
//
//   - One of the two ended cleanly, and the same with the two accesses in their order, as neighbours,
//     failed. These two executions differ in the order of two neighbours and in no other instance. This
//     case is for several updates lost at once: other ways to turn the same instance lose another.
//   - Every one that did turn the accesses ended cleanly, and at least once the execution that leaves the
//     access where it was failed.
//
// Turning one instance may turn others as well. So a race is harmful only if no instance of another
// race on which the failure depends turns a proper subset of what this one turns. For races that the
// execution does not show, see forestalled.
func (s *search) harm(ctx context.Context, i int, harmful map[[2]race.Access]RaceFound) error {
	found := &s.report.Findings[i]
	recorded := found.Finding.Recorded
	if found.Simplified != nil {
		recorded = found.Simplified.Recorded
	}
	if recorded == nil || recorded.Ending.Kind == trace.Hang {
		return nil
	}
	plan := replayPlan(recorded)
	plan.Mode = schedule.Tolerant
	plan.Points = slices.Compact(slices.Sorted(slices.Values(slices.Concat(plan.Points, s.racingSites()))))
	plan.MaxSteps = max(s.opts.MaxSteps, stepsFor(recorded, plan.Points))
	o, races, err := s.watched(ctx, plan, true)
	if err != nil {
		return err
	}
	same := func(e trace.Ending) bool { return sameFailure(recorded.Ending, e, s.target.Modules()) }
	if o.Trace == nil || !same(o.Ending) || o.Trace.Header.MaxAccesses > 0 {
		return nil
	}
	base := o.Trace
	h := harming{search: s, plan: plan, base: base, all: instancesOf(base, races), same: same}
	var dependent []dependence
	for k := range h.all {
		x, depends, err := h.depends(ctx, k)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err != nil { // of the others those count that turn nothing else
			dependent = slices.DeleteFunc(dependent, func(x dependence) bool { return len(x.turned) > 1 })
			break
		}
		if depends {
			dependent = append(dependent, x)
		}
	}
	for k := range dependent {
		x := &dependent[k]
		if _, known := harmful[x.pair]; !known && !slices.ContainsFunc(dependent, func(y dependence) bool { return y.pair != x.pair && y.within(x) }) {
			harmful[x.pair] = RaceFound{Failure: i, Turned: x.runs}
		}
	}
	for _, pair := range s.sortedPairs() {
		if _, known := harmful[pair]; known || slices.ContainsFunc(races, func(r race.Race) bool { return r.Pair == pair }) {
			continue
		}
		for k := range pair {
			turned, err := s.forestalled(ctx, plan, base, pair[k], pair[1-k], same)
			if err != nil {
				return err
			}
			if turned > 0 {
				harmful[pair] = RaceFound{Failure: i, Turned: turned}
				break
			}
		}
	}
	return nil
}

// sameFailure reports whether two executions failed in the same way, whether or not the access that faults is a
// scheduling point: the hook of one that is may read the memory, and then faults before the instruction does.
func sameFailure(a, b trace.Ending, modules []trace.Module) bool {
	if finding.Of(a, modules).Same(finding.Of(b, modules)) {
		return true
	}
	const near = 32 // bytes from the hook's return address to the end of the instruction
	return a.Kind == trace.Signal && b.Kind == trace.Signal && a.Status == b.Status &&
		a.Site.Module() == b.Site.Module() && max(a.Site.Offset(), b.Site.Offset())-min(a.Site.Offset(), b.Site.Offset()) <= near
}

// harming turns the instances of races in a failing execution.
type harming struct {
	search *search
	plan   schedule.Plan
	base   *trace.Trace
	all    []instance
	same   func(trace.Ending) bool // whether an execution failed as base
}

// follow executes a script that was derived from base.
func (h *harming) follow(ctx context.Context, script []schedule.Step) (schedule.Outcome, error) {
	p := h.plan
	p.Script, p.Threads = script, h.base.Threads
	return judged(h.search.target, verdict{expect: h.search.expect, outputs: h.search.outputs})(ctx, p)
}

// fails executes a control for instance k and returns where it had all instances if it failed as base
// and had the accesses of k in their order.
func (h *harming) fails(ctx context.Context, script []schedule.Step, k int) (arrangement, bool, error) {
	o, err := h.follow(ctx, script)
	if err != nil || o.Trace == nil || !h.same(o.Ending) {
		return nil, false, err
	}
	had := h.arranged(o.Trace)
	return had, !had.turned(k), nil
}

// depends reports whether the failure depends on instance k: see harm.
func (h *harming) depends(ctx context.Context, k int) (x dependence, depends bool, err error) {
	x.pair = h.all[k].pair
	failed, alone, near := false, false, false // alone and near: a control showed that the place of the access decides
	for _, turn := range turns(h.base, h.all[k].first, h.all[k].second) {
		o, err := h.follow(ctx, turn.turned)
		if err != nil {
			return x, false, err
		}
		if o.Trace == nil {
			continue
		}
		had := h.arranged(o.Trace)
		if !had.turned(k) {
			continue
		}
		if o.Ending.Kind != trace.Clean {
			failed = true
			continue
		}
		x.runs++
		if !near && had.has(k) {
			control, fails, err := h.fails(ctx, turn.near, k)
			if err != nil {
				return x, false, err
			}
			if near = fails && control.differsIn(had, k); near {
				x.turned = []int{k}
				continue
			}
		}
		if near {
			continue
		}
		if !failed && !alone {
			if _, alone, err = h.fails(ctx, turn.control, k); err != nil {
				return x, false, err
			}
		}
		var others []int
		for n := range h.all {
			// An access that no longer happens was not turned.
			if n == k || had[n][0] >= 0 && had.turned(n) {
				others = append(others, n)
			}
		}
		if x.turned == nil || len(others) < len(x.turned) {
			x.turned = others
		}
	}
	return x, near || alone && !failed, nil
}

// arrangement is where an execution had the two events of each instance, -1 for an event that it lacks.
type arrangement [][2]int

// arranged returns where an execution had the instances of base.
func (h *harming) arranged(t *trace.Trace) arrangement {
	type doing struct {
		thread uint64 // its name
		site   trace.Site
		op     trace.Op
	}
	as := func(t *trace.Trace, e *trace.Event) doing { return doing{t.Threads[e.Thread].Name, e.Site, e.Op} }
	at := map[doing][]int{}
	for k := range h.all {
		for _, e := range [2]int{h.all[k].first, h.all[k].second} {
			at[as(h.base, &h.base.Events[e])] = nil
		}
	}
	for i := range t.Events {
		d := as(t, &t.Events[i])
		if places, ok := at[d]; ok {
			at[d] = append(places, i)
		}
	}
	had := make(arrangement, len(h.all))
	for k := range h.all {
		x := &h.all[k]
		for n, e := range [2]int{x.first, x.second} {
			had[k][n] = -1
			if places := at[as(h.base, &h.base.Events[e])]; x.nth[n] < len(places) {
				had[k][n] = places[x.nth[n]]
			}
		}
	}
	return had
}

// turned is isTurned for instance k.
func (a arrangement) turned(k int) bool { return a[k][1] >= 0 && (a[k][0] < 0 || a[k][1] < a[k][0]) }

// has reports whether the execution had both events of instance k.
func (a arrangement) has(k int) bool { return a[k][0] >= 0 && a[k][1] >= 0 }

// differsIn reports whether two executions differ in the order of instance k, and of no other of which both
// had both events.
func (a arrangement) differsIn(b arrangement, k int) bool {
	for n := range a {
		if a.has(n) && b.has(n) && (a.turned(n) != b.turned(n)) != (n == k) {
			return false
		}
	}
	return true
}

// forestalled reports whether a failing execution ended before it could show a race because one access
// came before the other, as a read of a pointer that is not set yet. It follows the execution until
// before the last done access, and then continues at random: forestallRuns times with that access next,
// as often with that access next and its thread held behind it until the other access has happened, and
// with the thread held before it until the other access has happened on the same object, until
// forestallRuns of these have ended cleanly or four times as many are made. It returns how many ended cleanly
// if each execution did what it was to, each of the former failed in the same way and none of the last
// did, and otherwise 0. Some of the last may fail in another way: behind the failure may be another bug,
// which has to be one that they do not always meet.
func (s *search) forestalled(ctx context.Context, plan schedule.Plan, base *trace.Trace, done, other race.Access, same func(trace.Ending) bool) (int, error) {
	at := -1
	for i := range base.Events {
		e := &base.Events[i]
		if e.Flags&trace.FlagNoDecision == 0 && e.Site == done.Site && e.Op == done.Op {
			at = i
		}
	}
	if at < 0 || done == other {
		return 0, nil
	}
	for i := range base.Events[at:] {
		if e := &base.Events[at+i]; e.Site == other.Site && e.Op == other.Op {
			return 0, nil
		}
	}
	thread := base.Events[at].Thread
	behind := slices.IndexFunc(base.Events[at+1:], func(e trace.Event) bool { return e.Thread == thread && e.Flags&trace.FlagNoDecision == 0 })
	clean := 0
	for n := 0; clean < forestallRuns && n < 4*forestallRuns; n++ {
		p := plan
		p.Threads, p.Policy, p.Seed = base.Threads, schedule.Random, s.opts.Seed+uint64(n)
		run := func(events int, holds ...schedule.Hold) (schedule.Outcome, bool, error) {
			p.Script, p.Holds = schedule.Steps(base.Events[:events]), holds
			o, err := judged(s.target, verdict{expect: s.expect, outputs: s.outputs})(ctx, p)
			return o, len(holds) == 0 || len(o.Holds) > 0 && o.Holds[0].Done > 0, err
		}
		if n < forestallRuns {
			if o, _, err := run(at + 1); err != nil || !same(o.Ending) {
				return 0, err
			}
		}
		if n < forestallRuns && behind >= 0 {
			next := &base.Events[at+1+behind]
			if next.Site == 0 {
				return 0, nil // the thread's end: nothing to hold it before
			}
			o, held, err := run(at+1, schedule.Hold{Site: next.Site, Thread: thread, Until: other.Site, When: schedule.Done})
			if err != nil || !held || !same(o.Ending) {
				return 0, err
			}
		}
		o, held, err := run(at, schedule.Hold{Site: done.Site, Thread: thread, Until: other.Site, When: schedule.Done, Same: true})
		if err != nil || !held || same(o.Ending) {
			return 0, err
		}
		if o.Ending.Kind == trace.Clean {
			clean++
		}
	}
	return clean, nil
}

// instance is an instance of a race: two events in the order in which they happened.
type instance struct {
	pair          [2]race.Access
	first, second int
	nth           [2]int // how often the thread had executed the same before, for either event
}

const (
	// maxInstances bounds the instances that harm turns, and maxPerRace those of one race.
	maxInstances, maxPerRace = 256, 32
	// maxApart is how many racing accesses to the same memory may be between two accesses that harm turns,
	// unless they come in between two accesses of one thread.
	maxApart = 16
	// maxWithin is how many racing accesses may be between the two accesses of one thread.
	maxWithin = 4096
)

// candidate is an instance that may be turned.
type candidate struct {
	instance
	interrupts bool // one comes in between two accesses of the other's thread to the same memory
	apart      int  // racing accesses to the same memory in between
	place      int  // in the order of its race
}

// instancesOf returns instances of races in an execution, as far as both events are scheduling decisions:
// for each race first those in which a thread comes in between two accesses of another, as where an update
// is lost, and then those with the fewest accesses in between, the last of either first. For an interruption
// by several accesses it takes the two pairs that clear it: the first access and the last of the others,
// and the first of the others and the last access.
func instancesOf(t *trace.Trace, races []race.Race) (all []instance) {
	pairs := map[[2]race.Access]int{} // in both orders
	racing := map[race.Access]bool{}
	for k := range races {
		a, b := races[k].Pair[0], races[k].Pair[1]
		pairs[[2]race.Access{a, b}], pairs[[2]race.Access{b, a}] = k, k
		racing[a], racing[b] = true, true
	}
	as := func(i int) race.Access { return race.Access{Site: t.Events[i].Site, Op: t.Events[i].Op} }
	type own struct {
		thread trace.ThreadID
		access race.Access
	}
	executed := map[own]int{}
	nth := map[int]int{}
	var accesses []int
	for i := range t.Events {
		e := &t.Events[i]
		if a := as(i); racing[a] {
			nth[i] = executed[own{e.Thread, a}]
			executed[own{e.Thread, a}]++
			if e.Flags&trace.FlagNoDecision == 0 {
				accesses = append(accesses, i)
			}
		}
	}
	of := make([][]candidate, len(races))
	known := map[[2]int]bool{}
	add := func(first, second, apart int, interrupts bool) bool {
		k, ok := pairs[[2]race.Access{as(first), as(second)}]
		if ok && !known[[2]int{first, second}] {
			known[[2]int{first, second}] = true
			of[k] = append(of[k], candidate{instance{races[k].Pair, first, second, [2]int{nth[first], nth[second]}}, interrupts, apart, 0})
		}
		return ok
	}
	for j := len(accesses) - 1; j >= 0; j-- {
		last := &t.Events[accesses[j]]
		var others []int // between its thread's previous access and this one, the last first
		before := -1
		for n := j - 1; n >= max(0, j-maxWithin) && before < 0; n-- {
			e := &t.Events[accesses[n]]
			switch {
			case !overlap(e, last):
			case e.Thread == last.Thread:
				before = accesses[n]
			default:
				others = append(others, accesses[n])
			}
		}
		if before >= 0 {
			for n, r := range others {
				if add(before, r, n, true) {
					break
				}
			}
			for n := len(others) - 1; n >= 0; n-- {
				if add(others[n], accesses[j], n, true) {
					break
				}
			}
		}
		apart := 0
		for n := j - 1; n >= max(0, j-maxWithin) && apart <= maxApart; n-- {
			if e := &t.Events[accesses[n]]; overlap(e, last) {
				if e.Thread != last.Thread {
					add(accesses[n], accesses[j], apart, false)
				}
				apart++
			}
		}
	}
	var chosen []candidate
	for k := range of {
		slices.SortStableFunc(of[k], func(x, y candidate) int {
			if x.interrupts != y.interrupts {
				if x.interrupts {
					return -1
				}
				return 1
			}
			return x.apart - y.apart
		})
		of[k] = of[k][:min(len(of[k]), maxPerRace)]
		for n := range of[k] {
			of[k][n].place = n
		}
		chosen = append(chosen, of[k]...)
	}
	slices.SortStableFunc(chosen, func(x, y candidate) int { return cmp.Compare(x.place, y.place) })
	for _, c := range chosen[:min(len(chosen), maxInstances)] {
		all = append(all, c.instance)
	}
	return all
}

// dependence is an instance on which a failure depends.
type dependence struct {
	pair   [2]race.Access
	turned []int // what was turned with it, itself included: indices of instances, in ascending order
	runs   int   // executions that turned it and ended cleanly
}

// within reports whether x turned everything that d turned, and more.
func (d *dependence) within(x *dependence) bool {
	return len(d.turned) < len(x.turned) && !slices.ContainsFunc(d.turned, func(n int) bool { return !slices.Contains(x.turned, n) })
}
