package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Replay runs a recorded execution again, choice by choice, and returns the new recording.
// It must be the same, event by event and to the same end; if it is not the error is a
// *DivergedError that names the first event that differed, and the new recording is
// returned with it. A trace of another build gives an *OtherProgramError, one with
// scheduling points of another meaning the error of trace.CheckPoints, and nothing is
// run.
func Replay(ctx context.Context, t target.Target, recorded *trace.Trace) (*trace.Trace, error) {
	plan, err := ReplayPlan(t, recorded)
	if err != nil {
		return nil, err
	}
	o, err := judged(t, verdictOf(recorded, nil))(ctx, plan)
	if err != nil {
		return nil, err
	}
	if o.Trace == nil {
		return nil, fmt.Errorf("the replay could not be recorded: it ended with %v: %s", o.Ending.Kind, o.Ending.Message)
	}
	o.Trace.Header.Strategy = recorded.Header.Strategy
	if o.Ending.Kind == trace.Unsupported {
		return o.Trace, &UnsupportedError{What: o.Ending.Message, Where: place(t.Modules(), o.Ending.Site)}
	}
	if d := differs(recorded, o); d != nil {
		d.Changed = ipc.Changed(recorded.Header, t.Header())
		return o.Trace, d
	}
	return o.Trace, nil
}

// ReplayPlan is the plan that follows a recording strictly. The errors are those of Replay
// for recordings that cannot be followed.
func ReplayPlan(t target.Target, recorded *trace.Trace) (schedule.Plan, error) {
	if err := fits(t, recorded); err != nil {
		return schedule.Plan{}, err
	}
	return replayPlan(recorded), nil
}

// differs is nil if the outcome of a strict replay is the recording's.
func differs(recorded *trace.Trace, o schedule.Outcome) *DivergedError {
	if o.Ending.Kind != trace.Diverged {
		return same(recorded, o.Trace)
	}
	// An event before that may differ in something no script tells: a value, say. That
	// is the first difference, then, and the likely cause.
	n := min(len(o.Trace.Events), len(recorded.Events))
	for i := range n {
		a, b := &recorded.Events[i], &o.Trace.Events[i]
		if field, x, y := difference(recorded, o.Trace, a, b); field != "" {
			return &DivergedError{Event: i, Field: field, Recorded: a, Met: b, RecordedText: eventText(recorded, a) + x, MetText: eventText(o.Trace, b) + y}
		}
	}
	d := o.Diverged
	if d == nil {
		d = &schedule.Divergence{Step: int(o.Ending.Status), Met: schedule.Step{Thread: -1}}
	}
	return diverged(recorded, o.Trace, d)
}

// replayPlan is the plan that follows a recording strictly.
func replayPlan(recorded *trace.Trace) schedule.Plan {
	seed, _ := strategy.SeedOf(recorded.Header.Strategy)
	p := schedule.Plan{
		Seed: seed, Repeat: 1,
		Mode: schedule.Strict, Script: schedule.ScriptOf(recorded), Threads: recorded.Threads,
		Policy: schedule.Fair, Points: recorded.Header.Points, ExpectStatus: recorded.Header.ExpectStatus,
		Delays: schedule.NoDelays, // but for the steps that overtook
		Record: true,
	}
	for i := range recorded.Events {
		e := &recorded.Events[i]
		if e.Flags&trace.FlagNoChoice != 0 && (e.Op.IsAccess() || e.Op == trace.OpMalloc) {
			p.Accesses = true
			p.MaxAccesses = cmp.Or(recorded.Header.MaxAccesses, schedule.AllAccesses)
		}
		if e.Flags&trace.FlagTimeout != 0 {
			p.Timeouts = true
		}
	}
	if recorded.Ending.Kind == trace.Hang {
		// The budget was what ended it.
		p.MaxSteps = len(p.Script)
	}
	return p
}

// fits checks that a recording is one of the target's program.
func fits(t target.Target, recorded *trace.Trace) error {
	h := t.Header()
	if err := trace.CheckPoints(recorded.Header, schedule.PointsVersion); err != nil {
		return err
	}
	if a, b := recorded.Header.BuildID, h.BuildID; a != "" && b != "" && a != b {
		return &OtherProgramError{Recorded: a, Now: b}
	}
	// Sites name modules by their index.
	now := t.Modules()
	for i, m := range recorded.Modules {
		if i >= len(now) || now[i].Path != m.Path || now[i].BuildID != m.BuildID {
			met := "nothing"
			if i < len(now) {
				met = module(now[i])
			}
			return &OtherProgramError{Recorded: "with " + module(m), Now: "with " + met}
		}
	}
	return nil
}

func module(m trace.Module) string {
	return fmt.Sprintf("%s (build %s)", m.Path, cmp.Or(m.BuildID, "unknown"))
}

// RecordOptions say which execution to record.
type RecordOptions struct {
	// Strategy chooses the schedule from Seed; nil for the fair one.
	Strategy strategy.Sampler
	Seed     uint64
	Points   []trace.Site // memory instructions that are scheduling points
	MaxSteps int
	// ExpectStatus is the exit status of a good execution; nil for any, which is then
	// the one the trace expects.
	ExpectStatus *int32
	// Spurious lets condition and futex waits end without a waker.
	Spurious bool
	// EarlyTimeouts lets any wait, sleep or timer end before its time; otherwise only sleeps
	// do, for schedule.Slack in all and under a Strategy.
	EarlyTimeouts bool
	// Sparse leaves out accesses that are not scheduling points.
	Sparse bool
}

// Record records one execution, whatever it ends with. Where heddle cannot carry the
// program the error is an *UnsupportedError.
func Record(ctx context.Context, t target.Target, opts RecordOptions) (*trace.Trace, error) {
	plan := schedule.Plan{Policy: schedule.Fair}
	if opts.Strategy != nil {
		plan = opts.Strategy.Plan(strategy.Source(opts.Seed), strategy.Seen{})
	}
	plan.Seed, plan.Repeat, plan.Points, plan.MaxSteps = opts.Seed, 1, slices.Clone(opts.Points), opts.MaxSteps
	plan.Record, plan.Accesses, plan.Spurious = true, !opts.Sparse, opts.Spurious
	if opts.EarlyTimeouts {
		plan.Timeouts, plan.Delays = true, schedule.AnyDelays
	}
	o, err := t.Run(ctx, plan)
	if err == nil {
		err = unrecorded(t, &o)
	}
	if err != nil {
		return nil, err
	}
	expect := o.Ending.Status
	if opts.ExpectStatus != nil {
		expect = *opts.ExpectStatus
	} else if o.Ending.Kind != trace.Clean {
		expect = 0
	}
	judge(&o.Trace.Ending, expect)
	o.Trace.Header.ExpectStatus = expect
	o.Trace.Header.Strategy = strategy.Describe(plan)
	return o.Trace, nil
}

// unrecorded says why an execution that was to be recorded has no recording, nil if it has.
func unrecorded(t target.Target, o *schedule.Outcome) error {
	switch {
	case o.Ending.Kind == trace.Unsupported:
		return &UnsupportedError{What: o.Ending.Message, Where: place(t.Modules(), o.Ending.Site)}
	case o.Trace == nil:
		return fmt.Errorf("the execution could not be recorded: it ended with %v: %s", o.Ending.Kind, o.Ending.Message)
	}
	return nil
}
