package engine

import (
	"context"
	"fmt"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// ScheduleOptions are the oracle for a schedule that comes without a recording.
type ScheduleOptions struct {
	// ExpectStatus is the exit status of a good execution.
	ExpectStatus int32
	RacesFail    bool // a data race is a failure
	// Untold is as in Options: while such a library is loaded, a race is an *UnconfirmedError.
	Untold func(path string) bool
	// Where, Locate and Objects are like those of Options.
	Where   func(s trace.Site) string
	Locate  finding.Locate
	Objects func(t *trace.Trace, o trace.Object, size uint32, at int) string
}

// ReplaySchedule runs a schedule, in the form that schedule.Parse reads, and records the execution.
// The error of a string that cannot be read is schedule.Parse's. If the program does something
// other than a step says, as with the schedule of another program or build, the error is a
// *ScheduleError. An execution that outlasts the schedule, such as a hang that was cut off,
// continues under the fair policy.
func ReplaySchedule(ctx context.Context, t target.Target, text string, opts ScheduleOptions) (*trace.Trace, error) {
	script, threads, points, err := schedule.Parse(text)
	if err != nil {
		return nil, err
	}
	plan := schedule.Plan{
		Repeat: 1, Mode: schedule.Strict, Script: script, Threads: threads,
		Policy: schedule.Fair, Points: points, Delays: schedule.NoDelays, Record: true,
	}
	h := t.Header()
	v := verdict{expect: opts.ExpectStatus, outputs: outputsOf(&h), races: opts.RacesFail, doubtful: true, where: func(s trace.Site, calls []trace.Site) string {
		return caller(opts.Locate, opts.Where, t.Modules(), s, calls)
	}, objects: opts.Objects, locate: opts.Locate}
	o, err := followed(ctx, t, v, plan)
	if err == nil && o.Ending.Kind == trace.Race {
		plan.Accesses = true // a race is shown with both accesses
		v.like = &o.Ending
		v.doubtful = len(untold(t, opts.Untold)) == 0
		if o, err = followed(ctx, t, v, plan); err == nil && o.Ending.Kind != trace.Race && !v.doubtful {
			return nil, &UnconfirmedError{Libraries: blamed(t, opts.Untold)}
		}
	}
	if err == nil && v.races && o.Ending.UsesGoneMemory() {
		v.races = false // a target that watches sends no frees
		o, err = followed(ctx, t, v, plan)
	}
	if err == nil && o.Ending.Kind == trace.Unfinished && !silent(&o.Ending) {
		o, err = unended(ctx, t, v, plan, o)
	}
	if err != nil {
		return nil, err
	}
	o.Trace.Header.ExpectStatus = v.expect
	return o.Trace, nil
}

// UnconfirmedError reports that an execution raced while libraries were loaded that may order the
// accesses.
type UnconfirmedError struct{ Libraries []string }

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("the execution has a data race, but %s, so this is neither a finding nor a clean result: --races=ignore passes over races", untoldText(e.Libraries))
}

// followed runs a strict plan and returns its judged outcome, which has a trace.
func followed(ctx context.Context, t target.Target, v verdict, plan schedule.Plan) (schedule.Outcome, error) {
	o, err := judged(t, v)(ctx, plan)
	if err != nil {
		return o, err
	}
	if d := o.Diverged; o.Ending.Kind == trace.Diverged {
		if d == nil || d.Step < len(plan.Script) {
			return o, scheduleError(v, plan, d, int(o.Ending.Status))
		}
		plan.Mode = schedule.Tolerant
		if o, err = judged(t, v)(ctx, plan); err != nil {
			return o, err
		}
	}
	return o, unrecorded(t, &o)
}

// unended decides, as a search does, whether an execution that has not ended is a hang or livelock: the schedule holds no access to
// memory without a scheduling point, and a loop may read nothing else. It returns what shows that, or else the execution as it is.
func unended(ctx context.Context, t target.Target, v verdict, plan schedule.Plan, o schedule.Outcome) (schedule.Outcome, error) {
	c, err := continued(ctx, t, plan, &schedule.Outcome{Points: len(plan.Script) + 1})
	if err != nil || c.kind != trace.Hang && c.kind != trace.Livelock {
		return o, err
	}
	told(c.outcome.Trace, &c.verdict, names{v.where, v.objects, v.locate})
	c.outcome.Ending = c.outcome.Trace.Ending
	return c.outcome, nil
}

// ScheduleError reports where a program does not follow a schedule.
type ScheduleError struct {
	Step, Steps   int    // index of the step, and how many the schedule has
	Expected, Met string // in words
}

func (e *ScheduleError) Error() string {
	return fmt.Sprintf("the program does not follow the schedule: step %d of %d is %s, and it met %s; a schedule is of one build of a program, with the same arguments and input: use the program that it was recorded of",
		e.Step+1, e.Steps, e.Expected, e.Met)
}

func scheduleError(v verdict, plan schedule.Plan, d *schedule.Divergence, step int) error {
	met := schedule.Step{Thread: -1}
	if d != nil {
		step, met = d.Step, d.Met
	}
	e := &ScheduleError{Step: step, Steps: len(plan.Script), Expected: "its end", Met: "no thread that could run"}
	if step < len(plan.Script) {
		e.Expected = stepText(v, plan.Script[step])
	}
	if met.Thread >= 0 {
		e.Met = stepText(v, met)
	}
	return e
}

func stepText(v verdict, s schedule.Step) string {
	return fmt.Sprintf("T%d %v at %s", s.Thread, s.Op, v.where(s.Site, nil))
}
