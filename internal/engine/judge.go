package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/oracle"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// judge turns a clean ending with an unexpected exit status, or with an output that the oracle
// rejects, into a failure. Targets do not decide this; see the package comment. The error is the
// oracle's.
func judge(ctx context.Context, e *trace.Ending, expect int32, outputs *oracle.Oracle) error {
	if e.Kind == trace.Clean && e.Status != expect {
		e.Kind = trace.Exit
		e.Message = cmp.Or(e.Message, finding.UnexpectedStatus(e.Status, expect)) // or which expectation failed (cprog)
	}
	return outputs.Judge(ctx, e)
}

// outputsOf returns the oracle for the output of executions, nil if the header has none.
func outputsOf(h *trace.Header) *oracle.Oracle { return oracle.Of(h, MaxOutput) }

// verdict is the oracle of a search: it decides whether an execution failed.
type verdict struct {
	expect  int32          // exit status of a good execution
	outputs *oracle.Oracle // of a good execution
	// races makes an execution fail if it ends cleanly and its accesses race. Executions are then
	// recorded and watched.
	races bool
	// doubtful makes races count that a library of Options.Untold may have ordered, too.
	doubtful bool
	// like is the race to prefer, or nil. It makes the choice among several races of an execution
	// deterministic.
	like   *trace.Ending
	header *trace.Header // of the recording that like ends, nil without one
	// anyEnding makes an execution that failed in another way a race, too, if its accesses race. It
	// is for executions whose failure was set aside, and for repeating them.
	anyEnding bool
	// lasts reports whether a recording is to be cut after the race although the execution was not. It may be nil.
	lasts   func(*trace.Trace) bool
	where   func(s trace.Site, calls []trace.Site) string                    // for the message
	objects func(t *trace.Trace, o trace.Object, size uint32, at int) string // likewise; nil for objectText
	locate  finding.Locate                                                   // likewise; nil if unknown
}

// verdictOf returns the oracle under which a recording was made. locate and named are as for caller.
func verdictOf(recorded *trace.Trace, locate finding.Locate, named func(trace.Site) string) verdict {
	return verdict{
		expect: recorded.Header.ExpectStatus, outputs: outputsOf(&recorded.Header), races: recorded.Ending.Kind == trace.Race, like: &recorded.Ending, header: &recorded.Header,
		where: func(s trace.Site, calls []trace.Site) string {
			return caller(locate, named, recorded.Modules, s, calls)
		},
		locate: locate,
	}
}

// judged returns an executor that runs plans on the target and applies the oracle to their
// outcomes.
//
// If races decide, a target that can watch does so, and traces have accesses that are not scheduling
// points only if the plan asks for them. Other targets send all accesses, and traces have them.
func judged(t target.Target, v verdict) schedule.Executor {
	watches := target.Watches(t)
	return func(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
		p = v.prepared(p, watches)
		o, err := t.Run(ctx, p)
		if err != nil {
			return o, err
		}
		return o, v.judge(ctx, p, &o)
	}
}

// prepared returns the plan with what the oracle needs. watches says that the target can watch.
func (v *verdict) prepared(p schedule.Plan, watches bool) schedule.Plan {
	p.ExpectStatus, p.Output = v.expect, v.outputs != nil
	p.Haste = p.Haste || p.Cycles // goroutines that go on beside a deadlock go on after a test that passes, too
	if v.endless() {
		v.preparedEndless(&p)
	}
	if v.races {
		p = experiment.Watched(p, watches)
		p.Visits = !v.doubtful
	}
	return p
}

// judge applies the oracle to the outcome of a prepared plan. The error says why it could not decide.
func (v *verdict) judge(ctx context.Context, p schedule.Plan, o *schedule.Outcome) error {
	if err := judgeBoth(ctx, o, v.expect, v.outputs); err != nil {
		return err
	}
	if v.endless() {
		v.judgeEndless(p, o)
	}
	if v.races {
		clean := o.Ending.Kind == trace.Clean
		if r := v.race(o, experiment.Races(p, o)); r != nil && o.Trace != nil && clean && (p.Cut || v.lasts != nil && v.lasts(o.Trace)) {
			upToRace(o.Trace, r)
		}
	}
	return nil
}

// judgeBoth is judge for an outcome and its recording. An execution that was cut has neither an exit status nor its whole output.
func judgeBoth(ctx context.Context, o *schedule.Outcome, expect int32, outputs *oracle.Oracle) error {
	if o.Cut {
		return nil
	}
	err := judge(ctx, &o.Ending, expect, outputs)
	if err == nil && o.Trace != nil {
		err = judge(ctx, &o.Trace.Ending, expect, outputs)
	}
	return err
}

// race turns an execution that has races into a failed one if it ended cleanly, or if anyEnding is set. It returns the race that it
// chose, or nil.
func (v *verdict) race(o *schedule.Outcome, races []race.Race) *race.Race {
	e := &o.Ending
	if len(races) == 0 {
		return nil
	}
	// A race takes precedence over a leak.
	if withoutLeak(e); e.Kind != trace.Clean {
		if !v.anyEnding || e.Kind == trace.Diverged || e.Kind == trace.Unsupported {
			return nil
		}
		e.Waiters, e.Cycle = nil, nil
	}
	r := v.chosen(races)
	second := &r.Witness[1]
	if r.First < 0 && o.Trace != nil {
		r.Witness[0].Stack = stackBefore(o.Trace, &r)
	}
	e.Kind, e.Accesses = trace.Race, r.Witness[:]
	e.Thread, e.Site, e.Object = second.Thread, second.Site, r.Object
	e.Stack = []trace.Site{second.Site}
	if o.Trace != nil && int(second.Stack) < len(o.Trace.Stacks) {
		e.Stack = append(e.Stack, o.Trace.Stacks[second.Stack]...)
	}
	if v.like != nil && sameOrder(v.like.Accesses, e.Accesses) {
		e.Message = v.like.Message
	} else {
		e.Message = v.raceMessage(e, o.Trace)
	}
	if o.Trace != nil {
		o.Trace.Ending = *e
	}
	return &r
}

// raceMessage returns the message for a race; t is the recording or nil.
func (v *verdict) raceMessage(e *trace.Ending, t *trace.Trace) string {
	side := func(a *trace.Access) string {
		return fmt.Sprintf("%s at %s", race.Text(t, a), v.where(a.Site, callsOf(t, a)))
	}
	return "data race: " + side(&e.Accesses[0]) + ", " + side(&e.Accesses[1])
}

// stackBefore returns the call stack of a race's earlier access, which a target that watches does not
// report, if the trace has the access, and otherwise 0.
func stackBefore(t *trace.Trace, r *race.Race) uint32 {
	if i := earlier(t, r); i >= 0 {
		return t.Events[i].Stack
	}
	return race.Stack(t, &r.Witness[0])
}

// earlier returns the event of a race's earlier access: the last one of its instruction, thread and
// memory before the later access. It returns -1 if the trace lacks it.
func earlier(t *trace.Trace, r *race.Race) int {
	w := &r.Witness[0]
	for i := min(r.Event, len(t.Events)) - 1; i >= 0; i-- {
		e := &t.Events[i]
		if e.Thread != w.Thread || e.Site != w.Site || e.Op != w.Op {
			continue
		}
		// Offsets into a stack descend as addresses ascend.
		from, size := race.Place(e)
		to := w.Object
		if from.Region() == trace.RegionStack {
			from, to = to, from
		}
		if to >= from && uint64(to-from) < uint64(size) {
			return i
		}
	}
	return -1
}

// chosen returns the race to report: the preferred one if present, else the earliest.
func (v *verdict) chosen(races []race.Race) race.Race {
	if v.like != nil {
		if i := slices.IndexFunc(races, func(r race.Race) bool { return samePair(v.like.Accesses, r) }); i >= 0 {
			return races[i]
		}
	}
	return slices.MinFunc(races, race.Race.Before)
}

// sameOrder reports whether two pairs of accesses are of the same instructions in the same order.
func sameOrder(as, bs []trace.Access) bool {
	return slices.EqualFunc(as, bs, func(a, b trace.Access) bool { return a.Site == b.Site && a.Op == b.Op })
}

// samePair reports whether the accesses are those of the race, in either order.
func samePair(as []trace.Access, r race.Race) bool {
	is := func(a trace.Access, b race.Access) bool { return a.Site == b.Site && a.Op == b.Op }
	return len(as) == 2 && (is(as[0], r.Pair[0]) && is(as[1], r.Pair[1]) || is(as[0], r.Pair[1]) && is(as[1], r.Pair[0]))
}

// sequential reports whether a recorded execution is the only possible one: only the first thread
// was ever enabled, no select had more than one case, and no timer, signal or child process was
// involved. A second thread counts even if the first was blocked whenever the second was enabled:
// the first may have blocked outside a scheduling point, as in a read from a pipe. A wrong true
// would cost findings, so in doubt the result is false.
func sequential(t *trace.Trace) bool {
	if t.Header.Target != "go" && len(t.Threads) > 1 {
		return false
	}
	return !slices.ContainsFunc(t.Events, func(e trace.Event) bool {
		if e.Op == trace.OpSelect {
			return e.Size > 1
		}
		return ops.Of(e.Op).Spontaneous || e.Thread != 0 || e.Enabled.Len() > 1
	})
}
