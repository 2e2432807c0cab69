package engine

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Verdict is what is known about a data race.
type Verdict string

const (
	// Harmful: a failing execution is known that does not fail when the two accesses are turned and
	// everything else happens as before, as far as possible. See harm.
	Harmful Verdict = "harmful"
	// NoFailure: no failure was seen to depend on the race. RaceFound.Orders says how many executions
	// had the accesses in which order.
	NoFailure Verdict = "no failure seen"
	// RaceUnconfirmed: RaceFound.Why says why the race may be none.
	RaceUnconfirmed Verdict = "unconfirmed"
)

// RaceFound is a pair of instructions that raced.
type RaceFound struct {
	Sides   [2]RaceSide // in ascending order of instructions
	Object  uint64      // of the witness, as a trace.Object
	Name    string      // of the object
	Size    uint32      // bytes that both accessed
	Verdict Verdict
	Why     string // with RaceUnconfirmed
	// Orders counts the watched executions in which the first instance of the race had Sides in this
	// order, and in the other. If both sides are one instruction, the order is that of the threads'
	// numbers.
	Orders [2]int
	// Failure is the finding of a harmful race, an index into Report.Findings; otherwise -1.
	Failure int
	// Turned counts the executions with the accesses turned that did not fail.
	Turned int
}

// RaceSide is one access of a race, in an execution that was recorded.
type RaceSide struct {
	Op     trace.Op
	Site   trace.Site
	Thread trace.ThreadID
	Stack  []trace.Site // callers, innermost first; nil if unknown
	Locks  []string     // that the thread held, in the order in which it acquired them; nil if unknown, as in Go
	Order  string       // memory order of an atomic; otherwise empty
	Where  string
}

const (
	// exploreShare is the part of Options.Time for exploration; turnShare, that after which no more
	// races are turned.
	exploreShare, turnShare = 0.6, 0.8
	// turnRuns is how many executions try to bring about an order of a race that none has had.
	turnRuns = 20
	// forestallRuns is how many executions with either order show that a failure depends on an access that
	// came too early.
	forestallRuns = 5
)

// FindRaces explores like Find with Options.All, watches as many executions as it can, and returns the
// races that they showed, ordered by instruction, with a verdict for each. For a race that was seen in
// one order only it makes executions that hold the earlier access until the other has happened. The
// failures that it meets are in Report.Findings. Options.Races and Options.All have no effect.
func FindRaces(ctx context.Context, t target.Target, opts Options, progress func(Progress)) ([]RaceFound, *Report, error) {
	limit := opts.Time
	opts.Time = time.Duration(exploreShare * float64(limit))
	opts.All, opts.Races, opts.WatchMore = true, RacesIgnored, true
	s := newSearch(t, opts, progress)
	s.turns, s.turnBefore = true, time.Duration(turnShare*float64(limit))
	r, err := s.run(ctx)
	if err != nil {
		return nil, r, err
	}
	left := time.Duration(0)
	if limit > 0 {
		left = max(limit-time.Since(s.began), Grace)
	}
	bounded, cancel := limited(ctx, left)
	defer cancel()
	found, err := s.examine(bounded)
	r.Seconds = time.Since(s.began).Seconds()
	return found, r, s.unlessTime(bounded, err)
}

// watched runs a plan of one execution, recorded and watched, and returns the races that it showed.
func (s *search) watched(ctx context.Context, p schedule.Plan, accesses bool) (schedule.Outcome, []race.Race, error) {
	v := verdict{expect: s.expect, outputs: s.outputs, races: true}
	p = v.prepared(p, target.Watches(s.target))
	p.Record, p.Accesses, p.SkipAccesses = true, p.Accesses || accesses, 0
	o, err := s.target.Run(ctx, p)
	if err != nil {
		return o, nil, err
	}
	races := shown(p, &o)
	v.races = false
	return o, races, v.judge(ctx, p, &o)
}

// racingSites returns the memory instructions of all races seen.
func (s *search) racingSites() []trace.Site {
	var all []race.Race
	for _, x := range s.races {
		all = append(all, x.Race)
	}
	return race.Sites(all)
}

// sortedPairs returns the pairs of instructions that raced, in ascending order.
func (s *search) sortedPairs() [][2]race.Access {
	return slices.SortedFunc(maps.Keys(s.races), func(a, b [2]race.Access) int { return race.Race{Pair: a}.Compare(race.Race{Pair: b}) })
}

// turn tries to bring about the order of each race that no execution had: it holds threads before the
// access that came first until another thread has done the other (Sen, PLDI 2008, resolves a race in
// either order at random). Failures of these executions are findings like others.
func (s *search) turn(ctx context.Context) error {
	points := s.racingSites()
	source := rand.New(rand.NewPCG(s.opts.Seed, 0x7475726e))
	for _, pair := range s.sortedPairs() {
		for range turnRuns {
			x := s.races[pair]
			if x.orders[0] > 0 && x.orders[1] > 0 {
				break
			}
			if s.turnBefore > 0 && time.Since(s.began) > s.turnBefore || ctx.Err() != nil {
				return nil
			}
			first := 0
			if x.orders[1] > 0 {
				first = 1
			}
			p := schedule.Plan{Policy: schedule.Random, Seed: source.Uint64(), Repeat: 1, Points: points}
			if pair[0] != pair[1] {
				p.Holds = []schedule.Hold{{Site: pair[first].Site, Thread: schedule.AnyThread, Until: pair[1-first].Site, When: schedule.Done, Same: true}}
			}
			s.complete(&p)
			o, races, err := s.watched(ctx, p, false)
			if err != nil {
				return err
			}
			s.report.Executions++
			for i := range races {
				if y, ok := s.races[races[i].Pair]; ok {
					y.orders[order(&races[i])]++
					s.races[races[i].Pair] = y
				}
			}
			if k := o.Ending.Kind; !k.Failed() || k == trace.Unsupported || k == trace.Diverged || k == trace.Leak || s.setAside(&o) {
				continue
			}
			if found, err := s.confirm(ctx, &failure{plan: p, outcome: o, number: s.report.Executions}); err != nil {
				return err
			} else if found {
				s.collect()
			}
		}
	}
	return nil
}

// examine returns the races seen with their verdicts. When ctx ends, those left are unconfirmed.
func (s *search) examine(ctx context.Context) ([]RaceFound, error) {
	harmful := map[[2]race.Access]RaceFound{}
	for i := range s.report.Findings {
		if err := s.harm(ctx, i, harmful); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	libraries := s.untold()
	found := []RaceFound{}
	for _, x := range slices.SortedFunc(maps.Values(s.races), func(x, y raced) int { return x.Race.Compare(y.Race) }) {
		f := RaceFound{Object: uint64(x.Object), Size: x.Size, Verdict: NoFailure, Orders: x.orders, Failure: -1}
		for i, a := range x.Pair {
			f.Sides[i] = RaceSide{Op: a.Op, Site: a.Site, Thread: -1, Where: s.caller(a.Site, nil)}
		}
		shows := false
		if ctx.Err() == nil {
			o, races, err := s.watched(ctx, x.plan, true)
			if err != nil && ctx.Err() == nil {
				return nil, err
			}
			if i := slices.IndexFunc(races, func(r race.Race) bool { return r.Pair == x.Pair }); err == nil && i >= 0 {
				shows = true
				if o.Trace != nil {
					s.detail(&f, o.Trace, &races[i])
				}
			}
		}
		if f.Name == "" {
			f.Name = s.object(x.witness, x.Object, x.Size)
		}
		h, harms := harmful[x.Pair]
		switch {
		case len(libraries) > 0:
			f.Verdict, f.Why = RaceUnconfirmed, untoldText(libraries)
		case !shows && ctx.Err() != nil:
			f.Verdict, f.Why = RaceUnconfirmed, "the time was over before the execution that showed it could be repeated"
		case !shows:
			f.Verdict, f.Why = RaceUnconfirmed, "the execution that showed it did not show it again"
		case harms:
			f.Verdict, f.Failure, f.Turned = Harmful, h.Failure, h.Turned
		}
		found = append(found, f)
	}
	return found, nil
}

// detail fills in what a recorded execution shows of a race.
func (s *search) detail(f *RaceFound, t *trace.Trace, r *race.Race) {
	f.Object, f.Size, f.Name = uint64(r.Object), r.Size, s.object(witness(t, r.Object, r.Event), r.Object, r.Size)
	events := [2]int{earlier(t, r), r.Event}
	if later := r.Event; t.Header.MaxAccesses > 0 || later >= len(t.Events) || t.Events[later].Site != r.Witness[1].Site || t.Events[later].Thread != r.Witness[1].Thread {
		return // not all accesses could be recorded
	}
	for n, at := range events {
		if at < 0 {
			continue
		}
		e := &t.Events[at]
		side := n
		if order(r) == 1 && r.Pair[0] != r.Pair[1] {
			side = 1 - n
		}
		x := &f.Sides[side]
		x.Thread, x.Order = e.Thread, memoryOrder(e)
		if t.Header.Target != "go" {
			x.Locks = s.locksHeld(t, at)
		}
		if int(e.Stack) < len(t.Stacks) {
			x.Stack = t.Stacks[e.Stack]
		}
		x.Where = s.caller(e.Site, x.Stack)
	}
}

// locksHeld returns the names of the locks that the thread of an event holds before it.
func (s *search) locksHeld(t *trace.Trace, at int) []string {
	var state ops.State
	var locks []trace.Object
	for i := range t.Events[:at] {
		e := &t.Events[i]
		if e.Op.Class() == trace.ClassAcq && e.Thread == t.Events[at].Thread && e.Object != 0 && !slices.Contains(locks, e.Object) {
			locks = append(locks, e.Object)
		}
		state.Apply(e)
	}
	type held struct {
		object trace.Object
		since  int
	}
	var all []held
	for _, l := range locks {
		if h, ok := state.HoldOf(t.Events[at].Thread, l); ok {
			all = append(all, held{l, h.Event})
		}
	}
	slices.SortFunc(all, func(a, b held) int { return a.since - b.since })
	names := []string{}
	for _, h := range all {
		names = append(names, s.object(witness(t, h.object, at), h.object, 0))
	}
	return names
}

// memoryOrder returns the memory order of an atomic access as C names it, or "".
func memoryOrder(e *trace.Event) string {
	if e.Op.IsAccess() {
		return ""
	}
	names := []string{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"}
	if n := int(e.Flags & trace.FlagOrder >> 4); n < len(names) {
		return names[n]
	}
	return ""
}

// harm looks for races that finding i depends on. It repeats the failing execution with the
// instructions of all races as scheduling points. Then, for each instance of a race that it shows, it
// makes two pairs of executions. In the first pair the earlier access's thread waits until the other
// access is done: once before its access, which turns the two accesses, and once behind it, which does
// not. In the second pair the later access's thread runs before the earlier access: once up to and
// including its access, and once up to it. The rest of the schedule is followed as closely as possible.
// The executions of a pair differ in the place of one access alone, while both turn the same critical
// sections and other operations. The failure depends on the instance if every execution that did turn the
// accesses ended cleanly, and in at least one pair the other execution failed.
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
	plan.Mode, plan.MaxSteps = schedule.Tolerant, s.opts.MaxSteps
	plan.Points = slices.Compact(slices.Sorted(slices.Values(slices.Concat(plan.Points, s.racingSites()))))
	o, races, err := s.watched(ctx, plan, true)
	if err != nil {
		return err
	}
	goal := finding.Of(recorded.Ending, s.target.Modules())
	same := func(e trace.Ending) bool { return goal.Same(finding.Of(e, s.target.Modules())) }
	if o.Trace == nil || !same(o.Ending) || o.Trace.Header.MaxAccesses > 0 {
		return nil
	}
	base := o.Trace
	all := instancesOf(base, races)
	var dependent []dependence
	for k := range all {
		x := dependence{pair: all[k].pair}
		failed, alone := false, false // alone: the place of the access alone decides
		follow := func(script []schedule.Step) (schedule.Outcome, error) {
			p := plan
			p.Script, p.Threads = script, base.Threads
			return judged(s.target, verdict{expect: s.expect, outputs: s.outputs})(ctx, p)
		}
		for _, turn := range turns(base, all[k].first, all[k].second) {
			o, err := follow(turn.turned)
			if err != nil {
				return err
			}
			if o.Trace == nil || !isTurned(base, o.Trace, &all[k]) {
				continue
			}
			failed = failed || o.Ending.Kind != trace.Clean
			if !failed && !alone {
				control, err := follow(turn.control)
				if err != nil {
					return err
				}
				alone = same(control.Ending) && control.Trace != nil && !isTurned(base, control.Trace, &all[k])
			}
			var others []int
			for n := range all {
				// An access that no longer happens was not turned.
				if n == k || occurrence(base, all[n].first, o.Trace) >= 0 && isTurned(base, o.Trace, &all[n]) {
					others = append(others, n)
				}
			}
			if x.runs++; x.runs == 1 || len(others) < len(x.turned) {
				x.turned = others
			}
		}
		if alone && !failed {
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

// forestalled reports whether a failing execution ended before it could show a race because one access
// came before the other, as a read of a pointer that is not set yet. It follows the execution until
// before the last done access, and then continues at random, forestallRuns times with that access next,
// as often with that access next and its thread held behind it until the other access has happened, and
// as often with the thread held before it until the other access has happened on the same object. It
// returns how many of the last there were if each did what it was to, each of the former failed in the
// same way and none of the last did, and otherwise 0.
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
	for n := range forestallRuns {
		p := plan
		p.Threads, p.Policy, p.Seed = base.Threads, schedule.Random, s.opts.Seed+uint64(n)
		run := func(events int, holds ...schedule.Hold) (schedule.Outcome, bool, error) {
			p.Script, p.Holds = schedule.Steps(base.Events[:events]), holds
			o, err := judged(s.target, verdict{expect: s.expect, outputs: s.outputs})(ctx, p)
			return o, len(holds) == 0 || len(o.Holds) > 0 && o.Holds[0].Done > 0, err
		}
		if o, _, err := run(at + 1); err != nil || !same(o.Ending) {
			return 0, err
		}
		if behind >= 0 {
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
		if err != nil || !held || o.Ending.Kind != trace.Clean {
			return 0, err
		}
	}
	return forestallRuns, nil
}

// instance is an instance of a race: two events in the order in which they happened.
type instance struct {
	pair          [2]race.Access
	first, second int
}

// maxInstances bounds the instances that harm turns, and maxPerRace those of one race.
const maxInstances, maxPerRace = 128, 16

// instancesOf returns the first instances of races in an execution, as far as both events are scheduling
// decisions.
func instancesOf(t *trace.Trace, races []race.Race) (all []instance) {
	var accesses []int
	for i := range t.Events {
		if e := &t.Events[i]; e.Flags&trace.FlagNoDecision == 0 && slices.ContainsFunc(races, func(r race.Race) bool {
			a := race.Access{Site: e.Site, Op: e.Op}
			return a == r.Pair[0] || a == r.Pair[1]
		}) {
			accesses = append(accesses, i)
		}
	}
	for k := range races {
		pair, n := races[k].Pair, 0
		for j, second := range accesses {
			b := &t.Events[second]
			for _, first := range accesses[:j] {
				a := &t.Events[first]
				x, y := race.Access{Site: a.Site, Op: a.Op}, race.Access{Site: b.Site, Op: b.Op}
				if a.Thread == b.Thread || (x != pair[0] || y != pair[1]) && (x != pair[1] || y != pair[0]) || !overlap(a, b) {
					continue
				}
				if n++; n > maxPerRace || len(all) == maxInstances {
					break
				}
				all = append(all, instance{pair, first, second})
			}
		}
	}
	return all
}

// dependence is an instance on which a failure depends.
type dependence struct {
	pair   [2]race.Access
	turned []int // what was turned with it, itself included: indices of instances, in ascending order
	runs   int   // executions that turned it
}

// within reports whether x turned everything that d turned, and more.
func (d *dependence) within(x *dependence) bool {
	return len(d.turned) < len(x.turned) && !slices.ContainsFunc(d.turned, func(n int) bool { return !slices.Contains(x.turned, n) })
}
