package engine

import (
	"context"
	"errors"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// observe processes the next execution of the first plan in flight, or the plan's early end if o is
// nil. It reports whether the exploration continues.
func (x *exploration) observe(p *flying, o *schedule.Outcome, last bool, seen *observe.Observation) bool {
	if o == nil {
		if p.cut() {
			x.beyond = x.beyond[1:]
		}
		x.seen = strategy.Observation{Request: &p.request, Index: p.observed, Last: true}
		x.strategy.Observe(&x.seen)
		return x.ended()
	}
	index := p.observed
	p.observed++
	x.flight.unseen--
	x.report.Executions++
	if x.isolates && !o.Shared {
		x.report.NewProcesses++
	}
	x.tell(Exploring, false, nil, 0)
	if o.Ending.Kind == trace.Leak {
		x.leaks.setAside(p.alone(index), o, x.report.Executions)
		x.endSooner(x.leakShare())
	}
	fresh, err := x.look(x.ctx, p, o, seen)
	if err != nil {
		x.stop(err)
		return false
	}
	failed := o.Ending.Kind.Failed() || o.Ending.Kind == trace.Unfinished && x.settles(&o.Ending)
	if failed && x.setAside(o) {
		failed = false
		if !o.Cut {
			x.report.Masked++
		}
	}
	if failed {
		// The runtime stops a plan at its first failure. If the search continues after this
		// failure, the remaining executions must still run.
		last = p.observed == p.request.Plan.Repeat
	}
	x.effort.saw(x.strategy, &p.request, fresh, o.Ending.Kind.Failed())
	x.seen = strategy.Observation{Request: &p.request, Index: index, Last: last && !p.cut(), Outcome: o, Seen: seen, New: fresh}
	x.strategy.Observe(&x.seen)
	switch {
	case failed:
		x.failure = &failure{plan: p.alone(index), outcome: *o, number: x.report.Executions, arm: armOf(x.strategy, &p.request)}
		if last {
			x.flight.drop()
		}
		x.finish()
		return false
	case last:
		return x.ended()
	}
	return true
}

// look applies the oracle to an outcome and adds it to the report. fresh reports whether the
// outcome shows a new behaviour. An error ends the search.
func (s *search) look(ctx context.Context, p *flying, o *schedule.Outcome, seen *observe.Observation) (fresh bool, err error) {
	plan := &p.request.Plan
	s.relaxed.add(o)
	s.setUp.add(o)
	switch o.Ending.Kind {
	case trace.Unsupported:
		return false, &UnsupportedError{What: o.Ending.Message, Where: s.where(o.Ending.Site)}
	case trace.Diverged:
		if plan.Mode != schedule.Strict {
			return false, errors.New("the target reports that an execution left its script, but it had none: a bug in heddle")
		}
		return false, nil
	}
	s.budget(o)
	if o.Ending.Kind == trace.Unfinished && !s.settles(&o.Ending) {
		s.unfinished(o)
		if s.report.Executions == 1 {
			return false, errFirst
		}
	} else if !o.Ending.Kind.Endless() && !o.Cut {
		s.longest, s.quiet = max(s.longest, o.Points), max(s.quiet, o.Stretches)
	}
	if err := judgeBoth(ctx, o, s.expect, s.outputs); err != nil {
		return false, err
	}
	if s.report.Executions == 1 && o.Ending.Kind == trace.Exit && s.opts.ExpectStatus == nil && s.target.Header().Target != "go" {
		s.note("the first execution, in which no thread is preempted, exits with status %d: if that is success, use --expect-exit=%[1]d; otherwise check the program's arguments and environment, because it fails without preemptions", o.Ending.Status)
	}
	if s.report.Executions == 1 && o.Ending.Kind == trace.WrongOutput {
		s.note("the first execution, in which no thread is preempted, already has a wrong output: check what is expected, the program's arguments and its environment")
	}
	if o.External && !s.external {
		s.external = true
		s.note("an execution depended on external nondeterminism (another process, the network, a system call that lasted): heddle does not control when it happens, and the same schedule may end differently")
	}
	if o.Ending.Kind == trace.Unfinished || o.Cut || plan.Turns.Visits > 0 {
		// It has no behaviour: what it would have done is not known, or it is not drawn from all possible ones.
	} else if fresh = s.behaviours.add(o.Signature, plan.Tag); fresh {
		s.report.Newest = s.report.Executions
	}
	if o.Skipped && !o.Ending.Kind.Failed() {
		s.report.Skipped++
	}
	s.cuts.ran(plan, o, s.report.Executions == 1, fresh)
	if o.Trace != nil {
		s.lookAt(o)
	}
	if seen == nil {
		return fresh, nil
	}
	if seen.Incomplete != "" && s.report.RacesIncomplete == "" {
		s.report.RacesIncomplete = seen.Incomplete
		s.note("races may be missed: %s; --memory SIZE allows for more", seen.Incomplete)
	}
	s.saw(p, o, seen.Races)
	// A race seen only because accesses were skipped does not fail here. Its instructions become
	// scheduling points, after which every watched execution shows it.
	if s.opts.Races != RacesIgnored && len(seen.Races) > 0 && plan.SkipAccesses == 0 {
		if races := s.promising(s.unset(o, seen.Races)); s.wantsRace() {
			v := verdict{expect: s.expect, where: s.caller, anyEnding: s.knows(o)}
			v.race(o, races)
		}
	}
	return fresh, nil
}

// lookAt is look for what only a recorded execution shows.
func (s *search) lookAt(o *schedule.Outcome) {
	s.wide.look(o.Trace)
	if !s.cut && len(o.Ending.Output) >= ipc.OutputKept {
		s.cut = true
		s.note("an execution printed more than %d kB: only the beginning and the end of its output are kept", ipc.OutputKept>>10)
	}
	if s.report.Executions == 1 && s.opts.StopWhenSequential && (!o.Ending.Kind.Failed() || s.opts.setsAside()) && !o.External && !o.Random && !o.Cut && !s.opts.Spurious {
		s.report.Sequential = sequential(o.Trace)
	}
}
