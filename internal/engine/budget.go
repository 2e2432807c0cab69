package engine

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A correct program may pass any number of scheduling points, so the first execution, which
// is fair, has a large budget where the user has not given one, and the others have some times
// what it took. That it runs out then says nothing about a program that is just long.
const (
	firstSteps = 1 << 23
	usualSteps = abi.MaxSteps // the budget where a plan names none
	roomSteps  = 8
)

// budgetError is a first execution that did not end within firstSteps.
type budgetError struct{ points int }

func (e budgetError) Error() string {
	return fmt.Sprintf("the first execution passed %d scheduling points and did not end, so nothing is known about the program: give it less to do, or a larger budget with --max-steps", e.points)
}

// unbounded reports whether the first execution decides about the budget. Go programs have a
// warm-up for that.
func (c *campaign) unbounded() bool {
	return c.opts.MaxSteps == 0 && c.target.Header().Target == "c"
}

// firstPlan is the planner's, with the budget of a first execution.
func (c *campaign) firstPlan() schedule.Plan {
	plan := c.planner.first()
	if c.unbounded() {
		plan.MaxSteps = firstSteps
	}
	return plan
}

// budget sets the step budget of the executions to come from the first one.
func (c *campaign) budget(o *schedule.Outcome) error {
	if c.report.Executions != 1 || !c.unbounded() {
		return nil
	}
	if o.Ending.Kind == trace.Hang && o.Points >= firstSteps {
		c.report.Executions = 0 // none ended
		return budgetError{o.Points}
	}
	if n := roomSteps * o.Points; n > usualSteps {
		c.opts.MaxSteps = n
	}
	return nil
}
