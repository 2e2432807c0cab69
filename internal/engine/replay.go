package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Replay runs a recorded execution again, decision by decision, and returns the new recording. If
// the recordings differ in an event or in the ending, Replay also returns a *DivergedError with the
// first difference. For a trace of another build it returns an *OtherProgramError, and for a trace
// with another version of scheduling points the error of trace.CheckPoints; in both cases nothing
// runs.
func Replay(ctx context.Context, t target.Target, recorded *trace.Trace) (*trace.Trace, error) {
	plan, err := ReplayPlan(t, recorded)
	if err != nil {
		return nil, err
	}
	defer target.AsRecorded(t, &recorded.Header)()
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true // the execution is the same if it replays
	o, err := judged(t, v)(ctx, plan)
	if err != nil {
		return nil, err
	}
	if o.Trace == nil {
		return nil, fmt.Errorf("the replay could not be recorded: it ended with %v: %s", o.Ending.Kind, o.Ending.Message)
	}
	o.Trace.Header.Strategy = recorded.Header.Strategy
	if recorded.Ending.Kind == trace.Unfinished && o.Trace.Ending.Kind == trace.Unfinished {
		o.Trace.Ending.Message = recorded.Ending.Message // the replay ends there because the recording does
	}
	if o.Ending.Kind == trace.Unsupported {
		return o.Trace, &UnsupportedError{What: o.Ending.Message, Where: place(t.Modules(), o.Ending.Site)}
	}
	if d := differs(recorded, o); d != nil {
		d.Changed = ipc.Changed(recorded.Header, t.Header())
		return o.Trace, d
	}
	return o.Trace, nil
}

// ReplayPlan returns the plan that follows a recording strictly. Its errors are those of Replay for
// recordings that do not fit the target.
func ReplayPlan(t target.Target, recorded *trace.Trace) (schedule.Plan, error) {
	if err := fits(t, recorded); err != nil {
		return schedule.Plan{}, err
	}
	return replayPlan(recorded), nil
}

// differs returns the first difference between a recording and the outcome of its strict replay, or
// nil.
func differs(recorded *trace.Trace, o schedule.Outcome) *DivergedError {
	if o.Ending.Kind != trace.Diverged {
		return same(recorded, o.Trace)
	}
	// An earlier event may differ in something that scripts do not contain, such as a value. Then
	// that is the first difference, and the likely cause.
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

// replayPlan returns the plan that follows a recording strictly, without checking that it fits the
// target.
func replayPlan(recorded *trace.Trace) schedule.Plan {
	seed, _ := strategy.SeedOf(recorded.Header.Strategy)
	p := schedule.Plan{
		Seed: seed, Repeat: 1,
		Mode: schedule.Strict, Script: schedule.ScriptOf(recorded), Threads: recorded.Threads,
		Policy: schedule.Fair, Points: recorded.Header.Points, ExpectStatus: recorded.Header.ExpectStatus,
		Delays:    schedule.NoDelays, // except in steps recorded as early timeouts
		FairAfter: cmp.Or(recorded.Header.FairAfter, schedule.Never),
		Record:    true,
		Omit:      recorded.Header.Unrecorded,
		Values:    recorded.Header.Values, // even where no other access was recorded, those that are scheduling points have theirs
	}
	if hasAccesses(recorded) {
		p.Fault = recorded.Header.Fault
		p.Accesses, p.MaxAccesses = true, cmp.Or(recorded.Header.MaxAccesses, schedule.AllAccesses)
	}
	p.Functions = slices.ContainsFunc(recorded.Events, func(e trace.Event) bool { return e.Op.IsCall() })
	p.Timeouts = hasTimeouts(recorded)
	p.Cycles = endsInCycle(recorded)
	switch k := recorded.Ending.Kind; {
	case k.Endless():
		// The recorded execution was cut off there.
		p.MaxSteps = len(p.Script)
	case recorded.WasCut(), recorded.Header.Cut > 0 && k == trace.Test: // a failed test goes on
		p.Cut, p.MaxSteps = true, len(p.Script)
	default:
		p.MaxSteps = stepsFor(recorded, p.Points)
	}
	return p
}

// endsInCycle reports whether a recording ends where the last thread of a deadlock's cycle blocks, which other threads
// may have outlived, or in a deadlock of a Go program beside goroutines that go on. Another cycle might have been closed before.
func endsInCycle(recorded *trace.Trace) bool {
	e := &recorded.Ending
	last := len(recorded.Events) - 1
	if e.Kind == trace.Deadlock && e.Message == trace.GoesOn {
		return true
	}
	if e.Kind != trace.Deadlock || len(e.Cycle) == 0 || last < 0 || !slices.Contains(e.Cycle, recorded.Events[last].Thread) {
		return false
	}
	others := slices.DeleteFunc(slices.Clone(e.Waiters), func(w trace.Waiter) bool { return slices.Contains(e.Cycle, w.Thread) })
	return len(trace.CycleOf(others)) == 0
}

// hasAccesses reports whether a recording has events that are not scheduling points: accesses, allocations, calls.
// Every recording that ends with a use of freed memory has that, the allocation and the free.
func hasAccesses(recorded *trace.Trace) bool {
	lifetime := recorded.Lifetime()
	for i := range recorded.Events {
		if recorded.Events[i].Detail() && !lifetime(i) {
			return true
		}
	}
	return false
}

// fits checks that a recording is of the target's program.
func fits(t target.Target, recorded *trace.Trace) error {
	if recorded.Header.Live {
		return ErrLive
	}
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

// RecordOptions select the execution to record.
type RecordOptions struct {
	// Strategy chooses the schedule from Seed; nil means the fair policy.
	Strategy strategy.Sampler
	Seed     uint64
	Points   []trace.Site // memory instructions that are scheduling points
	MaxSteps int
	// ExpectStatus is the exit status of a good execution.
	ExpectStatus int32
	// Spurious allows spurious wake-ups of condition and futex waits.
	Spurious bool
	// EarlyTimeouts lets any wait, sleep or timer expire early. Otherwise only sleeps do, under a
	// Strategy and within schedule.Slack in total.
	EarlyTimeouts bool
	// Sparse does not record accesses that are not scheduling points.
	Sparse bool
	// Values records every access with its value (schedule.Plan.Values).
	Values bool
	// Functions, with Values, records entries and exits of functions (schedule.Plan.Functions).
	Functions bool
}

// Record records one execution, however it ends. If the context ends first, the recording says how far the execution came.
// If heddle does not support the program, the error is an *UnsupportedError.
func Record(ctx context.Context, t target.Target, opts RecordOptions) (*trace.Trace, error) {
	plan := schedule.Plan{Policy: schedule.Fair}
	if opts.Strategy != nil {
		plan = opts.Strategy.Plan(strategy.Source(opts.Seed), strategy.Seen{})
	}
	plan.Seed, plan.Repeat, plan.Points, plan.MaxSteps = opts.Seed, 1, slices.Clone(opts.Points), opts.MaxSteps
	if t.Header().Target == "go" {
		plan.Seed |= schedule.Comparable
	}
	plan.Record, plan.Accesses, plan.Spurious = true, !opts.Sparse, opts.Spurious
	plan.Values, plan.Functions = opts.Values, opts.Functions
	if opts.EarlyTimeouts {
		plan.Timeouts, plan.Delays = true, schedule.AnyDelays
	}
	if plan.MaxSteps == 0 && t.Header().Target == "c" {
		plan.MaxSteps = firstSteps
	}
	o, err := traced(ctx, t, t.Run, plan)
	var cut *target.CutError
	if errors.As(err, &cut) && cut.Outcome.Trace != nil {
		o, err = cut.Outcome, nil // how far it came is a recording, too
	}
	if err != nil {
		return nil, err
	}
	if err := judge(ctx, &o.Trace.Ending, opts.ExpectStatus, outputsOf(&o.Trace.Header)); err != nil {
		return nil, err
	}
	o.Trace.Header.ExpectStatus = opts.ExpectStatus
	o.Trace.Header.Strategy = strategy.Describe(plan)
	return o.Trace, nil
}

// traced runs one execution of plan and returns its outcome, which has a trace.
func traced(ctx context.Context, t target.Target, run schedule.Executor, plan schedule.Plan) (schedule.Outcome, error) {
	o, err := run(ctx, plan)
	if err != nil {
		return o, err
	}
	return o, unrecorded(t, &o)
}

// unrecorded returns an error that says why an execution has no usable recording, or nil if it has
// one.
func unrecorded(t target.Target, o *schedule.Outcome) error {
	switch {
	case o.Ending.Kind == trace.Unsupported:
		return &UnsupportedError{What: o.Ending.Message, Where: place(t.Modules(), o.Ending.Site)}
	case o.Trace == nil:
		return fmt.Errorf("the execution could not be recorded: it ended with %v: %s", o.Ending.Kind, o.Ending.Message)
	}
	return nil
}
