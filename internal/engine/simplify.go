package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Simplify searches for an execution with fewer context switches that fails like the recorded one,
// and confirms the result by a strict replay.
//
// If the options, an error or the context cut it short, the result is the simplest execution found
// so far and Cut is true unless every operation was tried; its replay may exceed the limit by
// Grace. Reaching the options' bounds is not an error. Otherwise the error is that of the target or
// the context, tinertia.ErrNotReproduced if the recorded schedule does not lead to the failure,
// tinertia.ErrUndecided if it leads to an execution that does not show yet that it hangs, or
// a *DivergedError if the result does not replay. The result is nil if simplification could not
// start or the failure did not reproduce.
func Simplify(ctx context.Context, t target.Target, recorded *trace.Trace, opts SimplifyOptions, progress func(tinertia.Progress)) (s *Simplified, err error) {
	if !recorded.Ending.Kind.Failed() {
		return nil, fmt.Errorf("there is no failure in the trace to keep: the execution ended with %v", recorded.Ending.Kind)
	}
	if err = fits(t, recorded); err != nil {
		return nil, err
	}
	defer target.AsRecorded(t, &recorded.Header)()
	bounded, cancel := limited(ctx, opts.Time)
	defer cancel()
	goal := finding.Of(recorded.Ending, t.Modules())
	seed, _ := strategy.SeedOf(recorded.Header.Strategy)
	began := time.Now()
	same := func(e trace.Ending) bool { return goal.Same(finding.Of(e, t.Modules())) }
	oracle := verdictOf(recorded, opts.Locate, opts.Where)
	oracle.objects = opts.Objects
	if oracle.anyEnding, err = fails(bounded, t, oracle, recorded); err != nil {
		return nil, err
	}
	exec := judged(t, oracle)
	start := recorded
	kept := 0
	if opts.Suffix > 0 {
		kept = tinertia.Kept(recorded, opts.Suffix)
		if recorded.Decisions() > longTrace {
			opts.Processes = 1
		}
	}
	// A hang lasts as long as the step budget. Reordering turns it into a few very long TEIs,
	// which must then be shortened event by event. Cutting it first leaves nothing to reorder.
	left := opts.Executions
	early, tried, err := recorded, 0, error(nil)
	if k := recorded.Ending.Kind; !opts.Whole && kept == 0 && left == 0 && k != trace.Race && !k.Endless() && recorded.Decisions() > longFirst {
		early, tried, err = sooner(bounded, exec, recorded, same)
		if err != nil && !outOfTime(bounded) {
			return nil, err
		}
		start = early
	}
	prompt, promptly := early, 0
	if strategy.DelaysOf(early) != schedule.NoDelays && kept == 0 && left == 0 && recorded.Ending.Kind != trace.Hang {
		prompt, promptly, err = undelayed(bounded, exec, like(early, replayPlan(early)), schedule.NoDelays, early, same)
		if err != nil && !outOfTime(bounded) {
			return nil, err
		}
		start = prompt
	}
	if opts.reorders(recorded) && left != 1 {
		executed := 0
		start, executed, err = merged(bounded, exec, prompt, kept, same)
		if left > 0 {
			left -= executed
		}
		switch {
		case err != nil && outOfTime(bounded):
			start = prompt
		case err != nil:
			return nil, err
		}
	}
	steps := max(opts.MaxSteps, stepsFor(start, start.Header.Points))
	if n := cutAfter(start); n > 0 {
		steps = n
	}
	several := newCrew(t, oracle, &opts)
	defer several.close()
	details, err := tinertia.Simplify(bounded, tinertia.Input{Trace: start, Same: same}, several.watched(exec), tinertia.Options{
		Seed: seed, MaxSteps: steps, Cut: start.Header.Cut > 0, Delays: strategy.DelaysOf(prompt), MaxExecutions: left, Progress: progress,
		Batch: several.batch, Width: several.width, Memory: opts.Memory, Kept: kept, Accesses: recorded.Header.Instrumented && (kept == 0 && recorded.Header.Target != "go" || reads(&recorded.Ending)),
		Reorder: opts.reorder(recorded), Extra: opts.extra(), ExtraTime: opts.ExtraTime, Patience: opts.Patience,
	})
	if err != nil && outOfTime(bounded) {
		err = nil
	}
	if details == nil || errors.Is(err, tinertia.ErrNotReproduced) || errors.Is(err, tinertia.ErrUndecided) {
		return nil, err
	}
	if start != prompt {
		details.StartedFrom(prompt, tinertia.StaticMerge, 1)
	}
	if prompt != early {
		details.StartedFrom(early, Undelay, promptly)
	}
	if early != recorded {
		details.StartedFrom(recorded, Sooner, tried)
	}
	if err == nil || bounded.Err() != nil {
		last, cancel := outlasting(bounded)
		again := recordedAgain(last, exec, details, same)
		if cancel(); again != nil && last.Err() == nil {
			err = cmp.Or(err, again)
		}
	}
	if err == nil && !details.Complete {
		if details.Fewest, err = static.Fewest(bounded, details.Trace); err != nil && outOfTime(bounded) {
			err = nil
		}
	}
	result := details.Trace
	result.Header.Strategy = "simplified from " + strings.TrimPrefix(recorded.Header.Strategy, "simplified from ")
	result.Header.ExpectStatus, result.Header.Finding = recorded.Header.ExpectStatus, recorded.Header.Finding
	s = &Simplified{
		Events: details.After.Events, Threads: details.After.Threads,
		Switches: details.After.Switches, Preemptions: details.After.Preemptions,
		Executions: details.Table2.Executions, Complete: details.Complete, Unproven: details.Unproven, Cut: details.Cut,
		Details: details, Recorded: result,
	}
	if err == nil || bounded.Err() != nil {
		last, cancel := outlasting(bounded)
		defer cancel()
		_, replayed := Replay(last, t, result)
		s.Confirmed = replayed == nil
		if oracle.endless() && replayed == nil {
			if lasts, err := remains(last, t, result); err == nil && !lasts {
				return nil, fmt.Errorf("%w: the simplified execution goes on under a fair schedule", tinertia.ErrNotReproduced)
			}
		}
		if replayed != nil && (last.Err() == nil || err == nil && !outOfTime(last)) {
			err = replayed
		}
	}
	s.Seconds = time.Since(began).Seconds()
	return s, err
}

// longTrace is how many scheduling decisions an execution may have for several to be simplified at a time:
// beyond, their traces take too much memory.
const longTrace = 1 << 18

// fails reports whether a recorded race is of an execution that failed in another way, which the
// search had set aside. Otherwise only executions that end cleanly show the race as simply.
func fails(ctx context.Context, t target.Target, oracle verdict, recorded *trace.Trace) (bool, error) {
	if !oracle.races {
		return false, nil
	}
	plan := replayPlan(recorded)
	plan.Accesses = false
	o, err := judged(t, oracle)(ctx, plan)
	if outOfTime(ctx) {
		return false, nil
	}
	return o.Ending.Kind.Failed() && o.Ending.Kind != trace.Race && o.Ending.Kind != trace.Diverged, err
}

// recordedAgain replaces the result by an exact recording of the same execution where the trial that
// gave it is not one: a race without the racing accesses, which trials leave out where the target
// watches, and an execution of a Go program, whose output is dropped when executions follow one
// another in a process.
func recordedAgain(ctx context.Context, exec schedule.Executor, details *tinertia.Result, same func(trace.Ending) bool) error {
	result := details.Trace
	race := result.Ending.Kind == trace.Race && (!hasAccesses(result) || result.WasCut())
	if !race && result.Header.Target != "go" {
		return nil
	}
	plan := replayPlan(result)
	plan.Accesses = plan.Accesses || race
	o, err := exec(ctx, plan)
	if err != nil || o.Trace == nil || !same(o.Ending) {
		return err // if it does not replay, its strict replay reports where it differs
	}
	o.Trace.Header = result.Header.Executed(o.Trace.Header)
	details.Trace = o.Trace
	return nil
}

// Undelay is the operation of a simplification that searches for an execution in which no wait,
// sleep or timer overtakes a thread. Such a failure needs no slow machine, so it is preferred even
// if it has more preemptions.
const Undelay tinertia.Operation = "undelay"

// Sooner is the operation of a simplification that searches for the failure of a long execution in the beginnings of others.
const Sooner tinertia.Operation = "sooner"

// soonerPoints is how many scheduling points sooner spends on executions of one length.
const soonerPoints = 64 * leastCut

// sooner searches for the failure of a long execution in random ones that are cut (cut.go), the shortest first. It returns the recorded
// execution if it finds none.
func sooner(ctx context.Context, exec schedule.Executor, recorded *trace.Trace, same func(trace.Ending) bool) (start *trace.Trace, executed int, err error) {
	like := replayPlan(recorded)
	like.Accesses, like.Cut = false, true
	for like.MaxSteps = leastCut; like.MaxSteps <= mostCut; like.MaxSteps *= 2 {
		for i := range soonerPoints / like.MaxSteps {
			plan := sample(like, i)
			o, err := exec(ctx, plan)
			if err != nil {
				return recorded, executed, err
			}
			if executed++; o.Trace == nil || !same(o.Ending) || len(schedule.ScriptOf(o.Trace)) == 0 {
				continue
			}
			// Whether it fails with the recorded seed is still unknown.
			plan = like
			plan.Mode, plan.Script, plan.Threads = schedule.Tolerant, schedule.ScriptOf(o.Trace), o.Trace.Threads
			if o, err = exec(ctx, plan); err != nil {
				return recorded, executed, err
			}
			if executed++; o.Trace != nil && same(o.Ending) && len(schedule.ScriptOf(o.Trace)) > 0 {
				o.Trace.Header = recorded.Header.Executed(o.Trace.Header)
				return o.Trace, executed, nil
			}
		}
	}
	return recorded, executed, nil
}

// undelayRuns is the number of executions undelayed makes.
const undelayRuns = 64

// undelayed searches for the failure in executions with no overtaking but what delays allows: first the recorded schedule
// with waits and sleeps of such a length, then random ones. It returns the recorded execution if it
// finds none.
func undelayed(ctx context.Context, exec schedule.Executor, like schedule.Plan, delays schedule.Delays, recorded *trace.Trace, same func(trace.Ending) bool) (start *trace.Trace, executed int, err error) {
	like.Mode, like.Delays, like.Timeouts, like.Accesses = schedule.Tolerant, delays, delays != schedule.NoDelays, false
	for i := range like.Script {
		like.Script[i].Timeout = like.Script[i].Timeout && like.Timeouts
	}
	plan := like
	for i := range undelayRuns {
		o, err := exec(ctx, plan)
		if err != nil {
			return recorded, executed, err
		}
		executed++
		if o.Trace != nil && same(o.Ending) && (like.Timeouts || o.Trace.Overtakings() == 0) && len(schedule.ScriptOf(o.Trace)) > 0 {
			if plan.Mode == schedule.Tolerant {
				o.Trace.Header = recorded.Header.Executed(o.Trace.Header)
				return o.Trace, executed, nil
			}
			// Whether it fails with the recorded seed is still unknown.
			plan = like
			plan.Script, plan.Threads = schedule.ScriptOf(o.Trace), o.Trace.Threads
			continue
		}
		plan = sample(like, i)
	}
	return recorded, executed, nil
}

// sample returns a plan like another one for the i-th random schedule that is tried.
func sample(like schedule.Plan, i int) schedule.Plan {
	like.Mode, like.Script, like.Threads = schedule.NoScript, nil, nil
	like.Policy, like.Stay, like.Seed = schedule.Random, [...]float64{0, 0.8, 0.95, 0.99}[i%4], uint64(i)+1
	return like
}

// merged reorders the independent operations of the recorded execution for fewer context switches,
// and runs the result. It returns the recorded execution if reordering gains nothing or the result
// does not fail in the same way, which the dependences rule out unless external nondeterminism is
// involved. A timer that overtook no thread must not do so in its new place.
//
// It reorders only what comes after the first kept scheduling decisions.
func merged(ctx context.Context, exec schedule.Executor, recorded *trace.Trace, kept int, same func(trace.Ending) bool) (start *trace.Trace, executed int, err error) {
	reordered, r, err := static.ReorderedAfter(ctx, recorded, kept)
	if err != nil {
		return nil, 0, err
	}
	if r.After >= r.Before {
		return recorded, 0, nil
	}
	plan := replayPlan(reordered)
	plan.Delays = strategy.DelaysOf(recorded)
	plan.Accesses = false // accesses that are not scheduling points only make the trace longer
	o, err := exec(ctx, plan)
	if err != nil {
		return nil, 1, err
	}
	if o.Trace == nil || !same(o.Ending) || o.Trace.Overtakings() > recorded.Overtakings() || trace.CostOf(o.Trace.Events).Compare(trace.CostOf(recorded.Events)) >= 0 {
		return recorded, 1, nil
	}
	if kept > 0 && !slices.Equal(beginning(o.Trace, kept), beginning(recorded, kept)) {
		return recorded, 1, nil
	}
	o.Trace.Header = recorded.Header.Executed(o.Trace.Header)
	return o.Trace, 1, nil
}

// reorders reports whether independent operations of a recorded execution are reordered. A hang lasts as long as
// the step budget, and reordering makes a few very long TEIs of it.
func (o *SimplifyOptions) reorders(recorded *trace.Trace) bool {
	return !o.NoStatic && recorded.Ending.Kind != trace.Hang
}

// reorder returns tinertia.Options.Reorder.
func (o *SimplifyOptions) reorder(recorded *trace.Trace) func(context.Context, *trace.Trace, int) (*trace.Trace, error) {
	if !o.reorders(recorded) {
		return nil
	}
	return func(ctx context.Context, t *trace.Trace, kept int) (*trace.Trace, error) {
		reordered, r, err := static.ReorderedAfter(ctx, t, kept)
		if err != nil || r.After >= r.Before {
			return t, err
		}
		return reordered, nil
	}
}

// beginning returns the first n scheduling decisions of an execution, or all if it has fewer.
func beginning(t *trace.Trace, n int) []schedule.Step {
	steps := schedule.ScriptOf(t)
	return steps[:min(n, len(steps))]
}

// simplify simplifies the finding.
func (s *search) simplify(ctx context.Context, t *trace.Trace) error {
	if len(schedule.ScriptOf(t)) == 0 {
		return nil // it fails before the first scheduling decision
	}
	opts := s.opts.Simplify
	opts.MaxSteps = max(opts.MaxSteps, s.opts.MaxSteps)
	opts.Whole = s.opts.Cut != nil && *s.opts.Cut == 0
	opts.Where, opts.Locate, opts.Objects = s.opts.Where, s.opts.Locate, s.opts.Objects
	s.share(&opts)
	cost := trace.CostOf(t.Events)
	s.tell(Simplifying, true, &cost, 0)
	simple, err := Simplify(ctx, s.target, t, opts, func(p tinertia.Progress) { s.tell(Simplifying, false, &p.Cost, p.Executions) })
	var d *DivergedError
	switch {
	case errors.Is(err, tinertia.ErrUndecided):
		s.note("%v", err)
		return nil
	case errors.Is(err, tinertia.ErrNotReproduced):
		s.note("not simplified: %v", err)
		return nil
	case errors.As(err, &d):
		// It failed when found, but does not replay. No simplified execution is better than one
		// that does not replay.
		s.note("not simplified: the simplified execution does not replay: %v", d)
		return nil
	case simple == nil && err != nil:
		s.note("not simplified: %s", reason(ctx, err))
		return err
	case simple == nil:
		s.note("not simplified: %v", errTime)
		return nil
	}
	if simple.Switches == cost.Switches && simple.Preemptions == cost.Preemptions && simple.Events == cost.Events && simple.Cut {
		if err == nil && simple.Details.GaveUp {
			s.note("not simplified: %d executions were not simpler; heddle simplify tries more", simple.Executions)
			return nil
		}
		s.note("not simplified: %s before a simpler execution was found", reason(ctx, cmp.Or(err, errTime)))
		return err
	}
	key, _ := s.key(&simple.Recorded.Ending, simple.Recorded)
	if s.opts.setsAside() && key != s.report.Finding.Key {
		s.note("not simplified: the simplified execution shows another finding (%s)", key)
		return err
	}
	s.report.Simplified, simple.Recorded.Header.Finding = simple, key
	s.describe(s.report.Finding, &simple.Recorded.Ending, simple.Recorded)
	if s.opts.Keep != nil {
		var kerr error
		if simple.Trace, kerr = s.opts.Keep(simple.Recorded, s.report.Finding.Trace); kerr != nil {
			return kerr
		}
	}
	return err
}
