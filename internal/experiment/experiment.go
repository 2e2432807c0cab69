// Package experiment answers questions about a recorded execution by executing its program again with a changed
// schedule: does it still fail if these two events happen the other way round, if this thread waits before that event, if
// a context switch comes a little earlier?
//
// An Experiment starts with a base: Repeat executes the recorded schedule again and sees more of it (Everything, Watched), or On
// takes a recording that shows enough already. Expose makes the accesses to shared memory scheduling points. From the base come
// the plans of executions that differ in one thing and follow the rest of the schedule as closely as possible:
//
//	Follow     a script derived from the base
//	Reordered  the base's events in another order, or the first of them
//	Turns      two events the other way round, and controls that differ from that in one event's place: see Try
//	Shifted    a context switch comes a little earlier or later
//	Sample   another schedule altogether
//
// Conflicts, Dependent, Interruptions and SharedSites say which events are worth turning, and at which memory
// instructions.
//
// A plan is data: the caller may change it, and with HoldBefore let a thread wait before an event until another thread has
// passed an instruction. Run executes it, counts it, judges it and finds the base's events in it.
//
// # Verdicts
//
// An execution Passes, fails in the Same way as the recorded one, or fails in some Other way. What has not ended within its
// budget, has left its script or could not be carried out is Unknown: it never counts as any of these. If the question is
// why an execution hangs, the setting's executor must recognise hangs, and Run lets an execution that is not one so far
// go on to see whether it ends.
//
// # Limits
//
// One account of executions and time is shared by an experiment and all that On derives from it. Repeat and Expose are never
// refused, since nothing is known without a base. Run returns ErrLimit once the account is used up, and Room tells
// beforehand. The experiment is Complete as long as neither has refused. If the context ends, Run returns its cause. An
// experiment is used from one goroutine at a time.
//
// The package knows no target: executing, the oracle and step budgets are the setting's functions.
package experiment

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Setting is what experiments are made with.
type Setting struct {
	// Recorded is the execution that the question is about. If it failed, its ending is the failure that Same means. It may be nil.
	Recorded *trace.Trace
	// Run executes a plan and applies the oracle to the outcome. If Recorded hangs, it recognises hangs.
	Run schedule.Executor
	// Longer is like Run, but does not cut an execution short to recognise a hang. It is nil if Run does not, either.
	Longer schedule.Executor
	// Budget returns the step budget of an execution that varies a recorded one, with these memory instructions as
	// scheduling points.
	Budget func(like *trace.Trace, points []trace.Site) int
	// Cut returns after how many points an execution of the plan is cut (schedule.Plan.Cut); 0 for never. If it is nil, none is.
	Cut func(schedule.Plan) int
	// Modules returns those of the program.
	Modules func() []trace.Module
	// Delays bounds the virtual time that comes early where another order of the events demands it: a sleep, a wait with a
	// deadline or a timer of the base ends although other threads are enabled.
	Delays schedule.Delays
	// Origin returns whose an event of an execution of the program is: those of the program's own code are exposed and turned first. If
	// nil, all are its own.
	Origin func(t *trace.Trace, event int) report.Origin

	Executions int           // at most; 0 for any number
	Time       time.Duration // after which none begins; 0 for no bound
	// Progress is told after each execution how many there have been. It may be nil.
	Progress func(executions int)
}

// ErrLimit is the error of Run when the executions or the time of an experiment are used up.
var ErrLimit = errors.New("the experiment has reached its limit")

// Experiment varies the schedule of Base.
type Experiment struct {
	// Base is the execution whose schedule is varied. Repeat and On set it.
	Base *trace.Trace
	// Plan has what the executions have in common: seed, scheduling points, budget, what is recorded. Its script is replaced.
	Plan schedule.Plan

	setting *Setting
	account *account
	ended   Verdict // of Base
	events  *numbering
}

// account is shared by experiments that were derived from one another.
type account struct {
	executions int
	verdicts   [Other + 1]int
	external   bool
	deadline   time.Time // zero for none
	half       time.Time // when half of the time is used up
	refused    bool
	outOfTime  bool // it was the time that refused
}

// New returns an experiment without a base.
func New(s Setting) *Experiment {
	x := &Experiment{setting: &s, account: new(account)}
	if s.Time > 0 {
		now := time.Now()
		x.account.half, x.account.deadline = now.Add(s.Time/2), now.Add(s.Time)
	}
	return x
}

// On returns an experiment with the same setting and account that varies another execution. p has what its executions have in
// common.
func (x *Experiment) On(base *trace.Trace, p schedule.Plan) *Experiment {
	y := &Experiment{Plan: p, setting: x.setting, account: x.account}
	y.rebase(base)
	return y
}

// Repeat executes see(p), whatever the limits. If that was recorded, it makes the recording the base, and p, tolerantly
// followed, the plan.
func (x *Experiment) Repeat(ctx context.Context, p schedule.Plan, see func(schedule.Plan) schedule.Plan) (*Result, error) {
	r, err := x.execute(ctx, see(p))
	if err != nil {
		return nil, err
	}
	if r.Trace != nil {
		x.rebase(r.Trace)
		x.Plan, x.ended = p, r.Verdict
		x.Plan.Mode, x.Plan.Delays = schedule.Tolerant, x.setting.Delays
	}
	return r, nil
}

func (x *Experiment) rebase(t *trace.Trace) { x.Base, x.events = t, &numbering{trace: t} }

// Expose executes the base again, whatever the limits, with the instructions of SharedSites as scheduling points, and makes
// its plan the experiment's. The recording becomes the base if it has the verdict of the base.
func (x *Experiment) Expose(ctx context.Context) (*Result, error) {
	p := x.Reordered(First(len(x.Base.Events)), sharedSites(x.Base, func(e int) report.Origin { return x.Origin(x.Base, e) })...)
	r, err := x.execute(ctx, p)
	if err != nil {
		return nil, err
	}
	if x.Plan = p; r.Trace != nil && r.Verdict == x.ended {
		x.rebase(r.Trace)
	}
	return r, nil
}

// Origin returns whose an event of an execution of the program is.
func (x *Experiment) Origin(t *trace.Trace, event int) report.Origin {
	if x.setting.Origin == nil {
		return report.OwnEvent
	}
	if t != x.Base {
		return x.setting.Origin(t, event)
	}
	ev := &t.Events[event]
	k := call{ev.Site, ev.Stack}
	origin, ok := x.events.origins[k]
	if !ok {
		if x.events.origins == nil {
			x.events.origins = map[call]report.Origin{}
		}
		origin = x.setting.Origin(t, event)
		x.events.origins[k] = origin
	}
	return origin
}

// Run executes a plan, judges the outcome and counts it.
func (x *Experiment) Run(ctx context.Context, p schedule.Plan) (*Result, error) {
	if !x.Room(1) {
		return nil, ErrLimit
	}
	return x.execute(ctx, p)
}

// Room reports whether the limits allow n more executions. If not, the experiment is not complete.
func (x *Experiment) Room(n int) bool {
	a := x.account
	late := !a.deadline.IsZero() && !time.Now().Before(a.deadline)
	if !late && (x.setting.Executions == 0 || a.executions+n <= x.setting.Executions) {
		return true
	}
	if !a.refused {
		a.refused, a.outOfTime = true, late
	}
	return false
}

// Late reports whether half of the time, or three quarters of the executions, are used up.
func (x *Experiment) Late() bool {
	a := x.account
	return !a.half.IsZero() && time.Now().After(a.half) || x.setting.Executions > 0 && 4*a.executions > 3*x.setting.Executions
}

// Executions returns how many have been made.
func (x *Experiment) Executions() int { return x.account.executions }

// Verdicts returns how many of the executions had a verdict.
func (x *Experiment) Verdicts(v Verdict) int { return x.account.verdicts[v] }

// External reports whether an execution waited for something that heddle does not control.
func (x *Experiment) External() bool { return x.account.external }

// Complete reports whether the limits have refused nothing.
func (x *Experiment) Complete() bool { return !x.account.refused }

// OutOfTime reports whether the time was the limit that refused something first, and not the number of executions.
func (x *Experiment) OutOfTime() bool { return x.account.outOfTime }

func (x *Experiment) execute(ctx context.Context, p schedule.Plan) (*Result, error) {
	o, err := x.once(ctx, x.setting.Run, p)
	if err != nil {
		return nil, err
	}
	if x.setting.Longer != nil && o.Ending.Kind == trace.Unfinished && x.Room(1) {
		// Not a hang so far. What matters is whether it ends.
		longer, err := x.once(ctx, x.setting.Longer, p)
		if err != nil {
			return nil, err
		}
		if !longer.Ending.Kind.Endless() {
			o = longer
		}
	}
	r := &Result{Outcome: o, Plan: p, Races: Races(p, &o), base: x.events}
	if r.Verdict = x.judge(&o.Ending, o.Trace); r.Verdict == Passes && o.Cut && !x.outlived(o.Trace) {
		r.Verdict = Unknown
	}
	x.account.verdicts[r.Verdict]++
	x.account.external = x.account.external || o.External
	if t := o.Trace; t != nil {
		t.Header.Points, t.Header.ExpectStatus = slices.Sorted(slices.Values(p.Sites())), p.ExpectStatus
		if x.setting.Recorded != nil {
			t.Header.Strategy = x.setting.Recorded.Header.Strategy // and so the seed
		}
	}
	return r, nil
}

// once executes a plan with an executor and counts it.
func (x *Experiment) once(ctx context.Context, run schedule.Executor, p schedule.Plan) (schedule.Outcome, error) {
	if ctx.Err() != nil {
		return schedule.Outcome{}, context.Cause(ctx)
	}
	if x.setting.Cut != nil && p.Mode != schedule.Strict {
		if n := x.setting.Cut(p); n > 0 {
			p.Cut, p.MaxSteps = true, n
		}
	}
	o, err := run(ctx, p)
	if err != nil {
		return o, err
	}
	x.account.executions++
	if x.setting.Progress != nil {
		x.setting.Progress(x.account.executions)
	}
	return o, nil
}

// Result is one execution of an experiment.
type Result struct {
	// Outcome has the trace, if the execution was recorded, with a header from which it can be repeated.
	schedule.Outcome
	Verdict Verdict
	Plan    schedule.Plan // that was executed
	Races   []race.Race   // of a plan by Watched

	base     *numbering // of the experiment's base
	matching *Matching  // nil until needed
}

// At returns the event of the execution that corresponds to an event of the base (Matching), or -1.
func (r *Result) At(event int) int {
	if r.Trace == nil {
		return -1
	}
	if r.matching == nil {
		r.matching = r.base.match(r.Trace)
	}
	return r.matching.Of(event)
}

// Turned reports whether the execution has event second of the base and has not had event first before it.
func (r *Result) Turned(first, second int) bool {
	a, b := r.At(first), r.At(second)
	return b >= 0 && (a < 0 || b < a)
}

// Held reports whether the plan's only hold was in force.
func (r *Result) Held() bool { return len(r.Holds) == 1 && r.Holds[0].Held > 0 }

// Passed reports whether the plan's only hold lasted until another thread had done what it waited for.
func (r *Result) Passed() bool { return len(r.Holds) == 1 && r.Holds[0].Done > 0 }

// Everything returns p with all accesses recorded, and their values.
func Everything(p schedule.Plan) schedule.Plan {
	p.Record, p.Accesses, p.Values, p.MaxAccesses = true, true, true, schedule.AllAccesses
	return p
}

// Watched returns p so that Races tells the races of its outcome. watches says that the target can watch; otherwise
// all accesses are recorded.
func Watched(p schedule.Plan, watches bool) schedule.Plan {
	p.Record = true
	if watches {
		p.Watch = true
	} else {
		p.Accesses, p.MaxAccesses, p.Watcher = true, 0, new(observe.Observer)
	}
	return p
}

// Races returns the races of the outcome of a plan by Watched, ordered by Pair; of another plan none.
func Races(p schedule.Plan, o *schedule.Outcome) []race.Race {
	if p.Watch && o.Watched != nil {
		return observe.InPlace(o, p.Sites()).Races
	}
	if seen, ok := p.Watcher.(*observe.Observer); ok && o.Trace != nil {
		return seen.Seen().Races
	}
	return nil
}
