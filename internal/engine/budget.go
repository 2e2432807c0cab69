package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A correct program may pass any number of scheduling points. So unless the user sets a budget, the
// first execution, which is fair, gets a large one, and later executions get roomSteps times what
// the first took. A long program then does not look like a hang.
const (
	firstSteps = 1 << 23
	usualSteps = abi.MaxSteps // the budget where a plan names none
	roomSteps  = 8
)

// budgetError reports a first execution that did not end within firstSteps.
type budgetError struct{ points int }

func (e budgetError) Error() string {
	return fmt.Sprintf("the first execution passed %d scheduling points and did not end, so nothing is known about the program: give it less work, or raise the budget with --max-steps", e.points)
}

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

// enough reports whether f's step budget was large enough to call it a hang. Instructions that turn
// out to race become scheduling points, which the first execution did not count. So a hang's plan
// runs again with the largest budget; if that execution ends, later ones get the same budget.
func (s *search) enough(ctx context.Context, f *failure) (bool, error) {
	o := f.outcome
	given := cmp.Or(f.plan.MaxSteps, usualSteps)
	if o.Ending.Kind != trace.Hang || !s.roomy || given >= firstSteps || o.Points < given {
		return true, nil
	}
	p := f.plan
	p.MaxSteps = firstSteps
	again, err := s.target.Run(ctx, p)
	if err != nil || again.Ending.Kind == trace.Hang {
		return true, err
	}
	s.opts.MaxSteps = firstSteps
	return false, nil
}

// budget sets the step budget of later executions from the first one.
func (s *search) budget(o *schedule.Outcome) error {
	if s.report.Executions != 1 || !s.unbounded() {
		return nil
	}
	if o.Ending.Kind == trace.Hang && o.Points >= firstSteps {
		s.report.Executions = 0 // none ended
		return budgetError{o.Points}
	}
	if n := roomSteps * o.Points; n > usualSteps {
		s.opts.MaxSteps = n
	}
	return nil
}
