package engine

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
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
	Size    uint32      // bytes that both accessed; 0 if unknown, as of most accesses in Go
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
	Text   string       // race.Text
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
//
// If ctx ends, FindRaces returns no error: it judges the races seen for at most Grace, and returns those that
// are left as unconfirmed. Report.Ended is ByInterrupt then, and Report.Outcome Interrupted if no execution failed.
func FindRaces(ctx context.Context, t target.Target, opts Options, progress func(Progress)) ([]RaceFound, *Report, error) {
	limit := opts.Time
	opts.Time = time.Duration(exploreShare * float64(limit))
	opts.All, opts.Races, opts.WatchMore = true, RacesIgnored, true
	s := newSearch(t, opts, progress)
	s.turns, s.turnBefore = true, time.Duration(turnShare*float64(limit))
	r, err := s.run(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, r, err
	}
	left := time.Duration(0)
	if limit > 0 {
		left = max(limit-time.Since(s.began), Grace)
	}
	if ctx.Err() != nil {
		left = Grace
	}
	last, cancelLast := outlasting(ctx)
	defer cancelLast()
	bounded, cancel := limited(last, left)
	defer cancel()
	found, all, err := s.examine(bounded)
	if !all {
		why := errTime.Error()
		if ctx.Err() != nil {
			why, r.Ended = "interrupted", ByInterrupt
			if r.Outcome == Nothing {
				r.Outcome = Interrupted
			}
		}
		s.judgedPartly(found, why)
	}
	r.Seconds = time.Since(s.began).Seconds()
	return found, r, err
}

// judgedPartly says of the races that examine did not come to why, and of the others that more may be harmful.
func (s *search) judgedPartly(found []RaceFound, why string) {
	for i := range found {
		if f := &found[i]; f.Verdict == RaceUnconfirmed && f.Why == "" {
			f.Why = why + " before the execution that showed it could be repeated"
		}
	}
	if slices.ContainsFunc(found, func(f RaceFound) bool { return f.Verdict == NoFailure }) && len(s.report.Findings) > 0 {
		s.note("%s before the failures had been repeated with every race turned: more of the races may be harmful", why)
	}
}

// experiment returns an experiment on an execution of the search's program, nil for none.
func (s *search) experiment(recorded *trace.Trace) *experiment.Experiment {
	return experiment.New(settingOf(s.target, recorded, verdict{expect: s.expect, outputs: s.outputs}))
}

// watched returns p so that it shows races.
func (s *search) watched(p schedule.Plan) schedule.Plan {
	return experiment.Watched(p, target.Watches(s.target))
}

// withAccesses returns p with accesses recorded as far as there is memory for them.
func withAccesses(p schedule.Plan) schedule.Plan {
	p.Accesses, p.SkipAccesses = true, 0
	return p
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
	if s.turnBefore > 0 {
		bounded, cancel := limited(ctx, max(s.turnBefore-time.Since(s.began), 1))
		defer cancel()
		ctx = bounded
	}
	points := s.racingSites()
	x := s.experiment(nil)
	source := rand.New(rand.NewPCG(s.opts.Seed, 0x7475726e))
	for _, pair := range s.sortedPairs() {
		for range turnRuns {
			seen := s.races[pair]
			if seen.orders[0] > 0 && seen.orders[1] > 0 || seen.Allocates() {
				break
			}
			if ctx.Err() != nil {
				return nil
			}
			first := 0
			if seen.orders[1] > 0 {
				first = 1
			}
			p := schedule.Plan{Policy: schedule.Random, Seed: source.Uint64(), Repeat: 1, Points: points}
			if pair[0] != pair[1] {
				p.Holds = []schedule.Hold{{Site: pair[first].Site, Thread: schedule.AnyThread, Until: pair[1-first].Site, When: schedule.Done, Same: true}}
			}
			s.complete(&p)
			r, err := x.Run(ctx, s.watched(p))
			if err != nil {
				s.cutShort(err)
				if overdue(ctx, err) {
					return nil
				}
				return err
			}
			o, races := r.Outcome, r.Races
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
			if found, err := s.confirm(ctx, &failure{plan: p, outcome: o, number: s.report.Executions}); err != nil && !overdue(ctx, err) {
				return err
			} else if found {
				s.collect()
			}
		}
	}
	return nil
}

// examineShare is the part of the time left for judging races in which they are confirmed; the next part is for
// turning them in failing executions.
const examineShare = 0.5

// examine returns the races seen with their verdicts. It first repeats the executions that showed them, then
// turns the races in failing executions. When ctx ends, the races left are unconfirmed, without RaceFound.Why, and
// all is false.
func (s *search) examine(ctx context.Context) (found []RaceFound, all bool, err error) {
	seen := slices.SortedFunc(maps.Values(s.races), func(x, y raced) int { return x.Race.Compare(y.Race) })
	found = make([]RaceFound, len(seen))
	shows := make([]bool, len(seen))
	next := 0 // not yet repeated
	repeat := func(ctx context.Context) error {
		for ; next < len(seen) && ctx.Err() == nil; next++ {
			ok, err := s.shownAgain(ctx, &seen[next], &found[next])
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			shows[next] = ok
		}
		return nil
	}
	for i, x := range seen {
		found[i] = RaceFound{Object: uint64(x.Object), Size: x.Size, Verdict: NoFailure, Orders: x.orders, Failure: -1}
		for k, a := range x.Pair {
			found[i].Sides[k] = RaceSide{Op: a.Op, Site: a.Site, Thread: -1, Text: race.Text(nil, &trace.Access{Op: a.Op}), Where: s.caller(a.Site, nil)}
		}
	}
	part := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		part = max(time.Duration(examineShare*float64(time.Until(deadline))), 1)
	}
	sooner, cancel := limited(ctx, part)
	defer cancel()
	if err := repeat(sooner); err != nil {
		return nil, false, err
	}
	harmful := map[[2]race.Access]RaceFound{}
	for i := range s.report.Findings {
		if err := s.harm(ctx, i, harmful); err != nil && ctx.Err() == nil {
			return nil, false, err
		}
	}
	if err := repeat(ctx); err != nil {
		return nil, false, err
	}
	all = ctx.Err() == nil
	libraries := blamed(s.target, s.opts.Untold)
	for i := range found {
		f := &found[i]
		if f.Name == "" {
			f.Name = s.object(seen[i].witness, seen[i].Object, seen[i].Size)
		}
		if s.target.Header().Target == "go" && f.Size <= 1 {
			f.Size = 0 // the compiler tells Go's race detector only the sizes of ranges
		}
		h, harms := harmful[seen[i].Pair]
		switch {
		case len(libraries) > 0 && !seen[i].certain:
			f.Verdict, f.Why = RaceUnconfirmed, untoldText(libraries)
		case i >= next:
			f.Verdict = RaceUnconfirmed
		case !shows[i]:
			f.Verdict, f.Why = RaceUnconfirmed, "the execution that showed it did not show it again"
		case harms:
			f.Verdict, f.Failure, f.Turned = Harmful, h.Failure, h.Turned
		}
	}
	return found, all, nil
}

// shownAgain repeats the execution that showed a race, records it, and fills in what it shows. It reports whether
// that shows the race.
func (s *search) shownAgain(ctx context.Context, x *raced, f *RaceFound) (bool, error) {
	r, err := s.experiment(nil).Run(ctx, withAccesses(s.watched(x.plan)))
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(r.Races, func(r race.Race) bool { return r.Pair == x.Pair })
	if i >= 0 && r.Trace != nil {
		s.detail(f, r.Trace, &r.Races[i])
	}
	return i >= 0, nil
}

// detail fills in what a recorded execution shows of a race.
func (s *search) detail(f *RaceFound, t *trace.Trace, r *race.Race) {
	f.Object, f.Size, f.Name = uint64(r.Object), r.Size, s.object(witness(t, r.Object, r.Event), r.Object, r.Size)
	side := func(n int) int {
		if order(r) == 1 && r.Pair[0] != r.Pair[1] {
			return 1 - n
		}
		return n
	}
	for n := range r.Witness {
		f.Sides[side(n)].Text = race.Text(t, &r.Witness[n])
	}
	events := [2]int{earlier(t, r), r.Event}
	if later := r.Event; t.Header.MaxAccesses > 0 || later >= len(t.Events) || t.Events[later].Site != r.Witness[1].Site || t.Events[later].Thread != r.Witness[1].Thread {
		return // not all accesses could be recorded
	}
	for n, at := range events {
		if at < 0 {
			continue
		}
		e := &t.Events[at]
		x := &f.Sides[side(n)]
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
	switch e.Op.Class() {
	case trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
	default:
		return ""
	}
	names := []string{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"}
	if n := int(e.Flags & trace.FlagOrder >> 4); n < len(names) {
		return names[n]
	}
	return ""
}
