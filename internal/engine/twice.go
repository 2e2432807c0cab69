package engine

import (
	"context"
	"errors"
	"maps"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A test that runs for a second time in its process may fail because it did run before, as one that
// registers a name. Its plan may also lead elsewhere than in a new process, since what the package
// fills on first use is full. So a failure that was seen in a shared process counts only if a new
// process shows it. A data race is one wherever it was seen.

// newTries is how many executions look for a failure in new processes, besides the replay of its
// recording.
const newTries = 20

const shownAnew = "a new process showed it"

// isolated isolates the executions that confirm a failure as the failed one was isolated, until the
// function that it returns is called.
func (s *search) isolated(f *failure) (restore func()) {
	how := target.SharedProcesses
	if !f.outcome.Shared {
		how = target.EachNew
	}
	undo := target.Isolate(s.target, how)
	return func() {
		if !s.anew {
			undo()
		}
	}
}

// inNewProcess reports whether a failure that was reproduced as o, or missed if that says how it was
// not, counts. If a new process shows it only in an execution in which the program's own code does
// something else, o becomes that. If none does, every later execution has a new process, and the search begins again.
// On an error before a new process has shown it, it does not count.
func (s *search) inNewProcess(ctx context.Context, f *failure, o *schedule.Outcome, missed string) (is bool, err error) {
	raced := f.outcome.Ending.Kind == trace.Race
	isolator, ok := target.As[target.Isolator](s.target)
	switch {
	case missed != "" && (raced || !ok || !f.outcome.Shared || f.outcome.External || o.External || isolator.Isolation() == target.EachNew):
		if raced {
			s.held.missed++
		}
		s.missing(f, missed)
		return false, nil
	case raced || !ok || isolator.Isolation() == target.EachNew || missed == "" && o.Trace == nil:
		return true, nil
	}
	defer func() {
		if !s.anew {
			isolator.Isolate(target.SharedProcesses)
		}
	}()
	isolator.Isolate(target.EachNew)
	last, cancel := outlasting(ctx)
	defer cancel()
	var plans []schedule.Plan
	if missed == "" {
		again, err := s.strictly(last, o.Trace)
		if err != nil {
			s.undecided(ctx, f, err, shownAnew)
			return false, err
		}
		if differs(o.Trace, again) == nil {
			return true, nil
		}
		p := replayPlan(o.Trace)
		p.Mode, p.MaxSteps, p.FairAfter = schedule.Tolerant, stepsFor(o.Trace, p.Points), 1
		p.Delays = strategy.DelaysOf(o.Trace)
		plans = append(plans, p)
	}
	plans = append(plans, s.plansInNew(f, newTries-len(plans))...)
	known := finding.Of(f.outcome.Ending, s.target.Modules())
	v := verdict{expect: s.expect, outputs: s.outputs, where: s.caller}
	for _, p := range plans {
		p.Record = true
		now, err := judged(s.target, v)(last, p)
		switch {
		case err != nil && missed != "":
			s.missing(f, missed)
			return false, err
		case err != nil:
			s.undecided(ctx, f, err, shownAnew)
			return false, err
		}
		if now.Trace == nil || !known.Same(finding.Of(now.Ending, s.target.Modules())) {
			continue
		}
		if missed == "" && maps.Equal(s.ownEvents(now.Trace), s.ownEvents(o.Trace)) {
			return true, nil // what differs is the library's, which fills state of its own on first use
		}
		err = s.followed(ctx, f, &now)
		if d := (*DivergedError)(nil); errors.As(err, &d) {
			continue
		}
		*o = now
		return true, err
	}
	if f.outcome.Ending.Kind == trace.Leak {
		s.missing(f, "in new processes, no execution left the goroutine")
		return false, nil
	}
	s.beginAnew(f, len(plans))
	return false, nil
}

// plansInNew returns n plans by which new processes look for a failure that a shared process had: twice its own, as something
// outside may decide, and then others as the search plans executions, with the instructions of the failed one as
// scheduling points. In half of those, threads come late to where they waited in the end.
func (s *search) plansInNew(f *failure, n int) []schedule.Plan {
	samplers := strategy.Samplers()
	plans := make([]schedule.Plan, n)
	for i := range plans {
		p := f.plan
		if i > 1 {
			seed := s.setting.Seed + uint64(f.number) + uint64(i)
			p = samplers[i%len(samplers)].Plan(strategy.Source(seed), strategy.Seen{})
			p.Seed, p.Repeat, p.Points = seed, 1, f.plan.Sites()
			s.complete(&p)
			if i/len(samplers)%2 == 0 {
				for _, w := range f.outcome.Ending.Waiters {
					if w.Site != 0 && len(p.Holds) < schedule.MaxHolds {
						p.Holds = append(p.Holds, schedule.Hold{Site: w.Site, Thread: schedule.AnyThread})
					}
				}
			}
		}
		plans[i] = p
	}
	return plans
}

// comparedAccesses is how many accesses of the first plan's executions are compared.
const comparedAccesses = 1 << 16

// compare runs the first plan in a new process and in a shared one. If the program's own code does
// something else there, passes in shared processes say little about new ones: some executions then
// have a new process. A failure in a new process that the exploration has not seen is returned.
func (s *search) compare(ctx context.Context) (*failure, error) {
	s.compared = true
	isolator, ok := target.As[target.Isolator](s.target)
	if !ok || isolator.Isolation() != target.SharedProcesses {
		return nil, nil
	}
	bounded, cancel := limited(ctx, s.opts.Time/4)
	defer cancel()
	r := s.firstRequest()
	r.Plan.Repeat, r.Plan.Accesses, r.Plan.MaxAccesses = 1, true, comparedAccesses
	exec := judged(s.target, verdict{expect: s.expect, outputs: s.outputs, where: s.caller})
	shared, err := exec(bounded, r.Plan)
	var own schedule.Outcome
	if err == nil {
		restore := target.Isolate(s.target, target.EachNew)
		own, err = exec(bounded, r.Plan)
		restore()
	}
	switch {
	case overdue(bounded, err):
		return nil, nil // executions are too long for this
	case err != nil || own.External || shared.External || own.Trace == nil || shared.Trace == nil:
		return nil, err
	}
	fails := own.Ending.Kind.Failed() && own.Ending.Kind != trace.Leak && !s.setAside(&own)
	if fails || !maps.Equal(s.ownEvents(own.Trace), s.ownEvents(shared.Trace)) {
		isolator.Isolate(target.SomeNew)
		s.report.Sequential = false
	}
	if !fails {
		return nil, nil
	}
	r.Plan.Accesses = false
	own.Trace = nil
	return &failure{plan: r.Plan, outcome: own, number: 1}, nil
}

// ownEvents counts what the program's own code does in a recording.
func (s *search) ownEvents(t *trace.Trace) map[instruction]int {
	names := s.opts.Why
	if names == nil {
		names = report.NewRunning(s.target.Modules)
	}
	type place struct {
		site  trace.Site
		stack uint32
	}
	own := map[place]bool{}
	count := map[instruction]int{}
	for i := range t.Events {
		e := &t.Events[i]
		at := place{e.Site, e.Stack}
		is, ok := own[at]
		if !ok {
			is = e.Site != 0 && names.Origin(t, i) == report.OwnEvent
			own[at] = is
		}
		if is {
			count[instruction{e.Op, e.Site}]++
		}
	}
	return count
}

// strictly follows a recording decision by decision.
func (s *search) strictly(ctx context.Context, recorded *trace.Trace) (schedule.Outcome, error) {
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true
	return traced(ctx, s.target, judged(s.target, v), replayPlan(recorded))
}

// beginAnew lets the search begin again, with a new process for each execution: f failed in a process
// in which others had run, and did not in so many new ones.
func (s *search) beginAnew(f *failure, tries int) {
	s.anew = true
	e := &f.outcome.Ending
	now := finding.Of(*e, s.target.Modules())
	var stacks [][]trace.Site
	if f.outcome.Trace != nil {
		stacks = f.outcome.Trace.Stacks
	}
	what := now.Named(stacks, s.locate)
	if place := now.Place(stacks, s.locate).Text; place != "" {
		what += " at " + place
	}
	if s.report.Executions == 1 {
		s.note("the test cannot run twice in a process (%s): each execution has a new process", what)
	} else {
		s.note("the test failed in a process in which it had run before (%s), and not in %d new processes: each execution has a new process", what, tries)
	}
	r := s.report
	r.Executions, r.NewProcesses, r.Newest, r.Masked, r.NotReproduced, r.Undecided = 0, 0, 0, 0, 0, 0
	r.Sequential, r.Unfinished, r.Ended = false, nil, ""
	s.strategy = s.newStrategy()
	s.stage = s.strategy.Stage()
	s.flight, s.beyond, s.pace = flight{tag: s.flight.tag}, nil, 0
	s.behaviours, s.cuts, s.leaks = newBehaviours(), cuts{Yields: -1}, leaks{}
	s.longest, s.quiet, s.patient, s.memoryBudget = 0, 0, false, 0
	if s.effort != nil {
		s.effort = &effort{}
	}
	first := s.firstRequest()
	s.flight.add(&first)
}
