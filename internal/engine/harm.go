package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
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
	x := s.experiment(recorded)
	r, err := x.Repeat(ctx, plan, func(p schedule.Plan) schedule.Plan { return withAccesses(s.watched(p)) })
	if err != nil {
		return err
	}
	if r.Trace == nil || r.Verdict != experiment.Same || r.Trace.Header.MaxAccesses > 0 {
		return nil
	}
	all := instancesOf(x.Base, r.Races)
	pairs := make([][2]int, len(all))
	for k := range all {
		pairs[k] = [2]int{all[k].first, all[k].second}
	}
	var dependent []dependence
	for k := range all {
		t, err := x.Try(ctx, pairs, k, true)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err != nil { // of the others those count that turn nothing else
			dependent = slices.DeleteFunc(dependent, func(x dependence) bool { return len(x.Turned) > 1 })
			break
		}
		if t.Near || t.Controlled && t.Failed == 0 {
			dependent = append(dependent, dependence{all[k].pair, t})
		}
	}
	for k := range dependent {
		x := &dependent[k]
		if _, known := harmful[x.pair]; !known && !slices.ContainsFunc(dependent, func(y dependence) bool { return y.pair != x.pair && y.Narrower(&x.Trial) }) {
			harmful[x.pair] = RaceFound{Failure: i, Turned: x.Passed}
		}
	}
	for _, pair := range s.sortedPairs() {
		if _, known := harmful[pair]; known || slices.ContainsFunc(r.Races, func(r race.Race) bool { return r.Pair == pair }) {
			continue
		}
		for k := range pair {
			turned, err := s.forestalled(ctx, x, pair[k], pair[1-k])
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

// forestalled reports whether a failing execution ended before it could show a race because one access
// came before the other, as a read of a pointer that is not set yet. It follows the execution until
// before the last done access, and then continues at random: forestallRuns times with that access next,
// as often with that access next and its thread held behind it until the other access has happened, and
// with the thread held before it until the other access has happened on the same object, until
// forestallRuns of these have ended cleanly or four times as many are made. It returns how many ended cleanly
// if each execution did what it was to, each of the former failed in the same way and none of the last
// did, and otherwise 0. Some of the last may fail in another way: behind the failure may be another bug,
// which has to be one that they do not always meet.
func (s *search) forestalled(ctx context.Context, x *experiment.Experiment, done, other race.Access) (int, error) {
	base, at := x.Base, -1
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
		run := func(events int, holds ...schedule.Hold) (*experiment.Result, error) {
			p := x.Follow(schedule.Steps(base.Events[:events]))
			p.Policy, p.Seed, p.Holds = schedule.Random, s.opts.Seed+uint64(n), holds
			return x.Run(ctx, p)
		}
		if n < forestallRuns {
			if r, err := run(at + 1); err != nil || r.Verdict != experiment.Same {
				return 0, err
			}
		}
		if n < forestallRuns && behind >= 0 {
			next := &base.Events[at+1+behind]
			if next.Site == 0 {
				return 0, nil // the thread's end: nothing to hold it before
			}
			r, err := run(at+1, schedule.Hold{Site: next.Site, Thread: thread, Until: other.Site, When: schedule.Done})
			if err != nil || !r.Passed() || r.Verdict != experiment.Same {
				return 0, err
			}
		}
		r, err := run(at, schedule.Hold{Site: done.Site, Thread: thread, Until: other.Site, When: schedule.Done, Same: true})
		if err != nil || !r.Passed() || r.Verdict == experiment.Same {
			return 0, err
		}
		if r.Verdict == experiment.Passes {
			clean++
		}
	}
	return clean, nil
}

// instance is an instance of a race: two events in the order in which they happened.
type instance struct {
	pair          [2]race.Access
	first, second int
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
	var accesses []int
	for i := range t.Events {
		if racing[as(i)] && t.Events[i].Flags&trace.FlagNoDecision == 0 {
			accesses = append(accesses, i)
		}
	}
	of := make([][]candidate, len(races))
	known := map[[2]int]bool{}
	add := func(first, second, apart int, interrupts bool) bool {
		k, ok := pairs[[2]race.Access{as(first), as(second)}]
		if ok && !known[[2]int{first, second}] {
			known[[2]int{first, second}] = true
			of[k] = append(of[k], candidate{instance{races[k].Pair, first, second}, interrupts, apart, 0})
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
			case !race.Overlap(e, last):
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
			if e := &t.Events[accesses[n]]; race.Overlap(e, last) {
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
	pair [2]race.Access
	experiment.Trial
}
