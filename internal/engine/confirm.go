package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// confirm reproduces a failure, reports it and simplifies it. It returns false if the failure did
// not reproduce; then the exploration continues. If ctx or an error prevented the attempt, confirm
// reports the failure as not confirmed.
func (s *search) confirm(ctx context.Context, f *failure) (found bool, err error) {
	s.tell(Confirming, true, nil, 0)
	defer s.isolated(f)()
	if ok, err := s.settle(ctx, f); !ok {
		return false, err
	}
	if f.outcome.Ending.Kind == trace.Race {
		if ok, err := s.certain(ctx, f); !ok {
			return false, err
		}
	}
	o, missed, err := s.rerun(ctx, f)
	if err == nil && missed == "" {
		err = s.followed(ctx, f, &o)
		if d, ok := err.(*DivergedError); ok {
			missed, err = d.Error(), nil
		}
	}
	if err == nil && missed == "" {
		var aside bool
		if aside, err = s.onlyEarly(ctx, f, &o); aside {
			return false, s.unlessTime(ctx, err)
		}
	}
	if err == nil {
		var is bool
		if is, err = s.inNewProcess(ctx, f, &o, missed); !is {
			return false, s.unlessTime(ctx, err)
		}
	}
	if s.passes(f, &o) {
		return false, nil
	}
	r := s.found(f, &o)
	r.Confirmed = err == nil
	if s.holds(r, &o) {
		return false, nil
	}
	s.report.Finding = r
	switch {
	case err != nil && o.Trace == nil:
		s.note("not confirmed: %s before the failure could be recorded; the same seed finds it again", reason(ctx, err))
	case err != nil:
		s.note("not confirmed: %s before the failure had been replayed; heddle replay shows whether it comes again", reason(ctx, err))
	}
	if o.Trace == nil {
		return true, s.unlessTime(ctx, err)
	}
	if kerr := s.keep(r, o.Trace); kerr != nil {
		return true, kerr
	}
	if err != nil || s.opts.NoSimplify {
		return true, s.unlessTime(ctx, err)
	}
	if err := s.simplify(ctx, o.Trace); s.unlessTime(ctx, err) != nil {
		return true, err
	}
	s.explain(ctx)
	return true, nil
}

// A finding is explained by executions none of which begins after whyTime.
const whyTime = 10 * time.Second

// explain looks for the ordering on which the finding depends, as heddle explain does. If the limits end that, it names one only as not
// confirmed, and does not save it: heddle explain, which has more time, might name another one.
func (s *search) explain(ctx context.Context) {
	f := s.report.Finding
	t := f.Recorded
	if s.report.Simplified != nil {
		t = s.report.Simplified.Recorded
	}
	if s.opts.Why == nil || t == nil || t.Ending.Kind == trace.Race {
		return
	}
	var cause *Cause
	if f.Why, cause = causeSoon(ctx, s.target, t, ExplainOptions{ExpectStatus: s.report.ExpectStatus, Passes: f.Execution > 1 && !s.opts.setsAside(), Names: s.opts.Why}); cause != nil {
		s.saveCause(t, cause)
	}
}

// causeSoon is FindCause within whyTime. It returns what is to be said, nil for nothing, and the cause if no limit ended the work: the finding
// stands without.
func causeSoon(ctx context.Context, t target.Target, tr *trace.Trace, opts ExplainOptions) (*report.Explanation, *Cause) {
	opts.Time = whyTime
	if end, ok := ctx.Deadline(); ok { // what it knows by then is told, if it ends itself
		opts.Time = min(opts.Time, max(time.Until(end)*9/10, time.Millisecond))
	}
	cause, err := FindCause(ctx, t, tr, opts)
	switch {
	case ctx.Err() != nil: // perhaps before the first execution
		return &report.Explanation{Cut: true, Reason: report.OutOfTime}, nil
	case err != nil:
		return nil, nil
	case cause.Cut && cause.Line != "" && len(cause.Orders) > 0 && cause.Orders[0].Doubtful():
		return &cause.Explanation, nil
	case cause.Cut:
		return &report.Explanation{Executions: cause.Executions, Cut: true, Reason: cause.Reason}, nil
	case cause.Line == "":
		return nil, cause
	}
	return &cause.Explanation, cause
}

// Recall says why a failing execution fails that was found earlier: as saved with it or, if nothing is, as executions show, which takes as
// long as for a new finding; the answer is then saved in the trace. It returns nil if there is nothing to say. A race has no cause.
func Recall(ctx context.Context, t target.Target, tr *trace.Trace, names *report.Running) *report.Explanation {
	if tr.Ending.Kind == trace.Race {
		return nil
	}
	if e := report.Saved(tr); e != nil {
		if e.Line == "" {
			return nil
		}
		return e
	}
	say, cause := causeSoon(ctx, t, tr, ExplainOptions{ExpectStatus: tr.Header.ExpectStatus, Names: names})
	if cause != nil {
		cause.Save(tr, t.Header().Heddle)
	}
	return say
}

// saveCause saves the explanation of a finding with its trace, so that heddle explain need not make the executions again. The finding
// stands if that fails.
func (s *search) saveCause(t *trace.Trace, c *Cause) {
	file := s.report.Finding.Trace
	if x := s.report.Simplified; x != nil {
		file = x.Trace
	}
	if s.opts.SaveCause == nil || file == "" {
		c.Show(t)
		c.Save(t, s.target.Header().Heddle)
		return
	}
	if c.PassingTrace != nil && s.opts.KeepPassing != nil {
		name, err := s.opts.KeepPassing(c.PassingTrace, file)
		if err != nil {
			s.note("the execution that does not fail was not kept: %v", err)
		}
		c.Passing = name
	}
	s.opts.SaveCause(t, file, c)
}

// passes reports whether a confirmed failure shows a finding that was set aside, and counts it.
func (s *search) passes(f *failure, o *schedule.Outcome) bool {
	if !s.opts.setsAside() {
		return false
	}
	key, _ := s.key(&o.Ending, o.Trace)
	s.aside.resolve(key, &o.Ending)
	s.suppress(key, &o.Ending, o.Trace)
	if !s.count(key) {
		return false
	}
	if k := o.Ending.Kind; k != trace.Leak && k != trace.Race { // those executions have run to their end
		s.report.Masked++
	}
	return true
}

// rerun runs the failed execution again and records it, unless it was already recorded in a process
// of its own. The recording of a race has the accesses, and that of a use of freed memory the frees, which no target
// sends while it watches. missed says how it ended if it did not fail in the same
// way. On an error, o is the original outcome.
func (s *search) rerun(ctx context.Context, f *failure) (o schedule.Outcome, missed string, err error) {
	raced := f.outcome.Ending.Kind == trace.Race
	if t := f.outcome.Trace; t != nil && !f.outcome.Shared && !f.plan.OnlyShared && !t.Ending.UsesGoneMemory() && !outlived(f) && (!raced || hasAccesses(t) && !s.lasts(t)) {
		return f.outcome, "", nil
	}
	original := finding.Of(f.outcome.Ending, s.target.Modules())
	p := f.plan
	p.Record, p.Accesses, p.OnlyShared, p.Sharing = true, raced, false, nil
	p.Cycles = f.outcome.Ending.BesideOthers()
	v := verdict{expect: s.expect, outputs: s.outputs, where: s.caller, races: raced, anyEnding: raced}
	if raced {
		v.like, v.lasts = &f.outcome.Ending, s.lasts
	}
	last, cancel := outlasting(ctx)
	defer cancel()
	if o, err = judged(s.target, v)(last, p); err != nil {
		return f.outcome, "", err
	}
	if p.Cycles && !original.Same(finding.Of(o.Ending, s.target.Modules())) { // another cycle was closed before
		p.Cycles = false
		if o, err = judged(s.target, v)(last, p); err != nil {
			return f.outcome, "", err
		}
	}
	if !original.Same(finding.Of(o.Ending, s.target.Modules())) {
		return o, fmt.Sprintf("its plan, run again, ended with %s", s.ending(o)), nil
	}
	if raced && o.Trace != nil && o.Trace.WasCut() {
		if err = s.exactly(last, &o, v); err != nil {
			return f.outcome, "", err
		}
	}
	if raced && o.Trace != nil && len(o.Ending.Accesses) == 2 {
		// Only now are the callers known.
		o.Ending.Message = v.raceMessage(&o.Ending, o.Trace)
		o.Trace.Ending.Message = o.Ending.Message
	}
	return o, "", nil
}

// lasts reports whether a recording goes on after a race for so long that it is better cut there: what follows has nothing to do with
// the race.
func (s *search) lasts(t *trace.Trace) bool {
	never := s.opts.Cut != nil && *s.opts.Cut == 0
	return t.WasCut() || !never && t.Decisions() > longFirst
}

// exactly records an execution once more that was cut after a race: there it ends in the same way as its replays will.
func (s *search) exactly(ctx context.Context, o *schedule.Outcome, v verdict) error {
	plan := replayPlan(o.Trace)
	plan.Accesses, plan.MaxAccesses = true, 0
	again, err := judged(s.target, v)(ctx, plan)
	if err == nil && again.Trace != nil && again.Ending.Kind == trace.Race && sameOrder(again.Ending.Accesses, o.Ending.Accesses) {
		*o = again
	}
	return err // followed reports an execution that does not replay
}

// outlived reports whether the recording of a failure goes on after the last thread of a deadlock blocked.
func outlived(f *failure) bool {
	e := &f.outcome.Trace.Ending
	if e.Message == trace.GoesOn {
		return !f.plan.Cycles
	}
	return e.Kind == trace.Deadlock && len(e.Cycle) > 0 && !endsInCycle(f.outcome.Trace)
}

// followed replays the recording strictly. The error is Replay's.
func (s *search) followed(ctx context.Context, f *failure, o *schedule.Outcome) error {
	if o.Trace == nil {
		return nil
	}
	o.Trace.Header.Strategy, o.Trace.Header.ExpectStatus = strategy.Describe(f.plan), s.expect
	if h := &o.Trace.Header; h.Cut == 0 && s.cuts.Long > 0 && o.Trace.Ending.Kind != trace.Race && !o.Trace.Ending.Kind.Endless() && o.Trace.Decisions() < mostCut {
		h.Cut = mostCut // a whole one of the search, which failed early
	}
	last, cancel := outlasting(ctx)
	defer cancel()
	again, err := Replay(last, s.target, o.Trace)
	if err == nil {
		if text := Varies(o.Trace, again); text != "" {
			s.note("%s", text)
		}
	}
	return err
}

// found returns the finding for an outcome.
func (s *search) found(f *failure, o *schedule.Outcome) *Finding {
	r := &Finding{Strategy: strategy.Describe(f.plan), Planned: f.arm, Execution: f.number}
	s.describe(r, &o.Ending, o.Trace)
	r.Key, _ = s.key(&o.Ending, o.Trace)
	return r
}

// describe fills r with how an execution failed; t is its recording or nil. The simplified
// execution may fail with other values, or with a race in the other order, so r must describe the
// execution whose trace it shows.
func (s *search) describe(r *Finding, e *trace.Ending, t *trace.Trace) {
	now := finding.Of(*e, s.target.Modules()) // with the stack, if only this execution has one
	var stacks [][]trace.Site
	if t != nil {
		stacks = t.Stacks
	}
	r.Kind, r.Message, r.Where = now.Kind.String(), now.Named(stacks, s.locate), now.Place(stacks, s.locate).Text
	r.Race, r.Threads = nil, []int{}
	if as := e.Accesses; len(as) == 2 {
		side := func(a trace.Access) Access { return Access{a.Op.String(), a.Site, s.caller(a.Site, callsOf(t, &a))} }
		r.Race = &Race{First: side(as[0]), Second: side(as[1]), Object: uint64(as[0].Object), Size: as[0].Size}
		if t != nil {
			r.Race.Name = s.object(witness(t, as[0].Object, len(t.Events)), as[0].Object, as[0].Size)
		}
	}
	for _, id := range now.Threads {
		r.Threads = append(r.Threads, int(id))
	}
}

// keep writes the trace of the finding.
func (s *search) keep(r *Finding, t *trace.Trace) (err error) {
	t.Header.Strategy, t.Header.ExpectStatus, t.Header.Finding = r.Strategy, s.expect, r.Key
	cost := trace.CostOf(t.Events)
	r.Recorded, r.Events, r.Switches, r.Preemptions = t, cost.Events, cost.Switches, cost.Preemptions
	if s.opts.Keep != nil {
		r.Trace, err = s.opts.Keep(t, "")
	}
	return err
}

// unlessTime returns err, or nil if Options.Time was reached, which is not a failure.
func (s *search) unlessTime(ctx context.Context, err error) error {
	if outOfTime(ctx) {
		return nil
	}
	return err
}

// reason describes why a step was cut short.
func reason(ctx context.Context, err error) string {
	switch {
	case outOfTime(ctx):
		return errTime.Error()
	case ctx.Err() != nil:
		return "interrupted"
	}
	return err.Error()
}

// missing counts a failure that did not reproduce.
func (s *search) missing(f *failure, why string) {
	if s.report.NotReproduced++; s.report.NotReproduced <= maxNotes {
		s.note("not reproduced: execution %d (%s) ended with %s; %s", f.number, strategy.Describe(f.plan), s.ending(f.outcome), why)
	}
}

// undecided counts a failure as not reproduced because ctx or an error ended the attempt.
func (s *search) undecided(ctx context.Context, f *failure, err error, before string) {
	s.report.Undecided++
	s.missing(f, reason(ctx, err)+" before "+before)
}

func (s *search) ending(o schedule.Outcome) string {
	if !o.Ending.Kind.Failed() {
		return fmt.Sprintf("%v (status %d)", o.Ending.Kind, o.Ending.Status)
	}
	f := finding.Of(o.Ending, s.target.Modules())
	return fmt.Sprintf("%v: %s at %s", f.Kind, f.Message, s.where(f.Site))
}
