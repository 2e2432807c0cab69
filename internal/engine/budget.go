package engine

import (
	"cmp"

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
		r.Plan.MaxSteps = usualSteps
	}
	s.shorten(&r)
	return r
}

// memorySteps is how many times the budget that the user sets an execution may take in which memory instructions are
// scheduling points: heddle chose these points, not the program.
const memorySteps = 100

// cramped reports whether the user's budget, which f exhausted, may have been too small only for the memory
// instructions that are scheduling points.
func (s *search) cramped(f *failure) bool {
	n := s.shaping.MaxSteps
	return n > 0 && n < firstSteps && len(f.plan.Points) > 0 && f.plan.MaxSteps == n && f.outcome.Points >= n && f.outcome.Ending.Kind == trace.Unfinished
}

// largest is the largest step budget that an execution of f's plan may get, 0 if f had it or did not exhaust what it had.
func (s *search) largest(f *failure) int {
	n := 0
	switch {
	case s.roomy && s.report.Executions == 1:
		return firstSteps
	case s.roomy && f.outcome.Points >= cmp.Or(f.plan.MaxSteps, usualSteps):
		n = firstSteps
	case s.cramped(f):
		n = min(s.shaping.MaxSteps*memorySteps, firstSteps)
	}
	if n <= f.plan.MaxSteps {
		return 0
	}
	return n
}

// budget sets the step budget of later executions from the first one. If that did not end, settle decides.
func (s *search) budget(o *schedule.Outcome) {
	if s.report.Executions != 1 || !s.unbounded() {
		return
	}
	if o.Ending.Kind.Endless() || o.Cut {
		return
	}
	if n := room(o.Points); n > usualSteps {
		s.opts.MaxSteps = n
	}
}
