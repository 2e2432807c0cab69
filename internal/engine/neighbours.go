package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Neighbours are executions near another: each differs in the order of two dependent events of different
// threads, or in the place of a context switch.
type Neighbours struct {
	// Executions were made, the first to repeat the execution, and Different of them are not equivalent to one
	// another or to that
	// (schedule.Outcome.Signature).
	Executions int
	Different  int
	Complete   bool         // no neighbour was left out because of the limit
	Failing    *trace.Trace // the first that failed; nil for none

	met *trace.Trace // the execution that ended the search; nil for none
}

// neighbourShift is by how many events a context switch is moved, in either direction.
const neighbourShift = 3

// RunNeighbours executes the neighbours of an execution of the target's program, at most limit executions,
// until one fails. recorded says what a failure is, like the trace of an execution that a search found. The
// accesses to memory that threads share are scheduling points. First come the pairs of dependent events, the last
// of the execution first, and then the context switches.
func RunNeighbours(ctx context.Context, t target.Target, recorded, of *trace.Trace, limit int, locate finding.Locate) (*Neighbours, error) {
	n, err := neighbours(ctx, t, recorded, of, limit, locate, experiment.Same, experiment.Other)
	if n != nil && n.met != nil {
		n.Failing = n.met
		n.Failing.Header.Strategy = "neighbour of the recorded schedule"
	}
	return n, err
}

// neighbours is RunNeighbours until an execution has one of the verdicts.
func neighbours(ctx context.Context, t target.Target, recorded, of *trace.Trace, limit int, locate finding.Locate, until ...experiment.Verdict) (*Neighbours, error) {
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true
	v.where, v.locate = func(s trace.Site, calls []trace.Site) string { return caller(locate, nil, t.Modules(), s, calls) }, locate
	setting := settingOf(t, recorded, v)
	setting.Executions = limit + 1 // the first is not counted
	x := experiment.New(setting)
	plan, err := ReplayPlan(t, of)
	if err != nil {
		return nil, err
	}
	plan.Mode, plan.ExpectStatus = schedule.Tolerant, recorded.Header.ExpectStatus
	if _, err = repeated(ctx, x, t, plan); err != nil {
		return nil, err
	}
	if len(x.Base.Events) == 0 {
		return &Neighbours{Complete: true}, nil
	}
	out := &Neighbours{Complete: true}
	seen := map[uint64]bool{}
	look := func(r *experiment.Result) (more bool, err error) {
		if err := unrecorded(t, &r.Outcome); err != nil {
			return false, err
		}
		seen[r.Signature] = true
		if r.Verdict == experiment.Unknown {
			out.Complete = false
		}
		if slices.Contains(until, r.Verdict) {
			out.met = r.Trace
		}
		return out.met == nil, nil
	}
	r, err := x.Expose(ctx)
	if err != nil {
		return nil, err
	}
	all := true
	more, err := look(r)
	if more {
		all, err = x.Neighbours(ctx, neighbourShift, look)
	}
	out.Executions, out.Different = x.Executions()-1, max(len(seen)-1, 0)
	out.Complete = out.Complete && all && x.Complete()
	return out, unlessLimit(err)
}
