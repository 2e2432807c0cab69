package engine

import (
	"cmp"
	"context"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Cause is why a recorded execution fails, and the executions that show it.
type Cause struct {
	report.Explanation // in the numbers of the explained trace

	// Shown is the explained execution with the accesses that the explanation names as scheduling points; nil if the explained trace has
	// them all. Show puts it in that trace's place.
	Shown *trace.Trace
	// Base is the execution that fails, with all accesses to memory, and InBase the explanation in its numbers.
	Base   *trace.Trace
	InBase *report.Explanation
	// PassingTrace is the nearest execution that does not fail; nil if none was found. Explanation.Passing is for the caller to set, who
	// gives it a name.
	PassingTrace *trace.Trace
	// Met is PassingTrace, or else an execution that does not fail, though no ordering is named; nil if none was met.
	Met *trace.Trace
}

// mostScheduled bounds the events of an execution whose schedule an explanation has: that is part of the explained trace.
const mostScheduled = 100_000

// FindCause executes the program of a failing trace to say why it fails. Every command that explains a failure calls it, so
// that all say the same of a trace; where the limits end the work (Explanation.Cut), more of them may show another ordering.
func FindCause(ctx context.Context, t target.Target, recorded *trace.Trace, opts ExplainOptions) (*Cause, error) {
	if opts.Names == nil {
		opts.Names = report.NewRunning(t.Modules)
	}
	defer target.AsRecorded(t, &recorded.Header)()
	found, err := Explain(ctx, t, recorded, opts)
	if err != nil {
		return nil, err
	}
	e := &report.Explanation{Orders: found.Orders, Executions: found.Executions, Complete: found.Complete, Cut: found.Cut, Reason: found.Reason, Interrupted: found.Interrupted, Passed: found.Passed}
	e.Others = found.others
	opts.Names.As(recorded).Explain(found.Base, found.Passing, e)
	e.Others = nil
	e.Number(found.Base, recorded)
	met := cmp.Or(found.Passing, found.Met)
	if met != nil && len(met.Events) <= mostScheduled {
		e.Schedule = schedule.FormatTrace(met)
	}
	return &Cause{Explanation: *e.InTrace(), Shown: shown(ctx, t, recorded, found.Base, e), Base: found.Base, InBase: e, PassingTrace: found.Passing, Met: met}, nil
}
