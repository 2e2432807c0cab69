package engine

import (
	"cmp"
	"context"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// unbounded reports whether the first execution decides the step budget. For Go programs a warm-up
// does.
func (s *search) unbounded() bool {
	return s.opts.MaxSteps == 0 && s.target.Header().Target == "c"
}

// firstRequest is the plan of the first execution, with its budget.
func (s *search) firstRequest() strategy.Request {
	r := strategy.FirstRequest(&s.setting)
	s.complete(&r.Plan)
	if s.roomy = s.unbounded(); s.roomy {
		r.Plan.MaxSteps = firstSteps
	}
	return r
}

// memorySteps is how many times the budget that the user sets an execution may take in which memory instructions are
// scheduling points, before it is a hang: heddle chose these points, not the program.
const memorySteps = 100

// cramped reports whether the user's budget, which f used up, may have been too small only for the memory
// instructions that are scheduling points.
func (s *search) cramped(f *failure) bool {
	n := s.shaping.MaxSteps
	return n > 0 && n < firstSteps && len(f.plan.Sites()) > 0 && f.plan.MaxSteps == n && f.outcome.Points >= n && f.outcome.Ending.Message != trace.NoProgress
}

// doubtful reports whether enough decides if an ending is a hang. One that was confirmed speaks for the others.
func (s *search) doubtful(e *trace.Ending) bool {
	return e.Kind == trace.Hang && !s.aside.hung && (s.roomy || s.shaping.MaxSteps > 0 && e.Message != trace.NoProgress || e.Message == trace.NoProgress && !s.patient)
}

// enough reports whether f had time enough to call it a hang: that it used up its step budget, or made no progress, may
// be for want of either. Instructions that turn out to race become scheduling points, which the first execution did not
// count. So a hang's plan runs again with the largest budget and surePatience; if that execution ends, later ones get
// as much. A budget that the user sets is only widened for plans with memory instructions, see cramped.
func (s *search) enough(ctx context.Context, f *failure) (bool, error) {
	o := f.outcome
	given := cmp.Or(f.plan.MaxSteps, usualSteps)
	short := s.roomy && given < firstSteps && o.Points >= given
	hasty := o.Ending.Message == trace.NoProgress && f.plan.FairAfter == 0
	cramped := s.cramped(f)
	if o.Ending.Kind != trace.Hang || !short && !hasty && !cramped {
		return true, nil
	}
	p := f.plan
	p.FairAfter = cmp.Or(o.FairAt, o.Points)
	switch {
	case cramped:
		p.MaxSteps = min(s.shaping.MaxSteps*memorySteps, firstSteps)
	case s.shaping.MaxSteps == 0:
		p.MaxSteps = max(given, firstSteps)
	}
	again, err := s.target.Run(ctx, p)
	if err != nil || again.Ending.Kind == trace.Hang {
		return true, err
	}
	switch {
	case cramped:
		s.memoryBudget = p.MaxSteps
	case s.shaping.MaxSteps == 0:
		s.opts.MaxSteps = p.MaxSteps
	}
	s.patient = true
	return false, nil
}

// budget sets the step budget of later executions from the first one. That is unfinished if it has used up the largest budget.
func (s *search) budget(o *schedule.Outcome) {
	if s.report.Executions != 1 || !s.unbounded() {
		return
	}
	if o.Ending.Kind == trace.Unfinished {
		return
	}
	if n := room(o.Points); n > usualSteps {
		s.opts.MaxSteps = n
	}
}
