package engine

import (
	"context"
	"slices"

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
}

// neighbourShift is by how many events a context switch is moved, in either direction.
const neighbourShift = 3

// RunNeighbours executes the neighbours of an execution of the target's program, at most limit executions,
// until one fails. recorded says what a failure is, like the trace of an execution that a search found. The
// accesses to memory that threads share are scheduling points. First come the pairs of dependent events, the last
// of the execution first, and then the context switches.
func RunNeighbours(ctx context.Context, t target.Target, recorded, of *trace.Trace, limit int, locate finding.Locate) (*Neighbours, error) {
	out := &Neighbours{Complete: true}
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true
	v.where = func(s trace.Site, calls []trace.Site) string { return caller(locate, nil, t.Modules(), s, calls) }
	execute := judged(t, v)
	plan, err := ReplayPlan(t, of)
	if err != nil {
		return nil, err
	}
	plan.Accesses, plan.Values, plan.MaxAccesses = true, true, schedule.AllAccesses
	plan.Mode, plan.ExpectStatus = schedule.Tolerant, recorded.Header.ExpectStatus
	o, err := traced(ctx, t, execute, plan)
	if err != nil {
		return nil, err
	}
	base := o.Trace
	base.Header.Points = of.Header.Points
	if len(base.Events) == 0 {
		return out, nil
	}
	follow := reorderPlanAt(base, inOrder(len(base.Events)), sharedSites(base))
	follow.Seed, follow.ExpectStatus, follow.Mode = plan.Seed, plan.ExpectStatus, schedule.Tolerant
	follow.Delays = plan.Delays
	seen := map[uint64]bool{}
	run := func(script []schedule.Step) (done bool, err error) {
		if out.Executions == limit {
			out.Complete = false
			return true, nil
		}
		p := follow
		if script != nil {
			p.Script = script
		}
		o, err := traced(ctx, t, execute, p)
		if err != nil {
			return true, err
		}
		out.Executions++
		if !seen[o.Signature] && script != nil {
			out.Different++
		}
		seen[o.Signature] = true
		if o.Ending.Kind == trace.Unfinished {
			out.Complete = false // whether it would have failed is not known
			return false, nil
		}
		if o.Ending.Kind.Failed() {
			out.Failing = o.Trace
			out.Failing.Header.Strategy, out.Failing.Header.ExpectStatus = "neighbour of the recorded schedule", recorded.Header.ExpectStatus
			return true, nil
		}
		if script == nil {
			base = o.Trace
			base.Header.Points = p.Points
			follow.Threads = base.Threads
		}
		return false, nil
	}
	if done, err := run(nil); done || err != nil {
		return out, err
	}
	pairs, all := dependentPairs(base)
	out.Complete = all
	for _, p := range pairs {
		for _, turn := range turns(base, p[0], p[1]) {
			if done, err := run(turn.turned); done || err != nil {
				return out, err
			}
		}
	}
	for _, script := range shifted(base) {
		if done, err := run(script); done || err != nil {
			return out, err
		}
	}
	return out, nil
}

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// shifted returns the schedules in which one context switch of an execution comes up to neighbourShift
// scheduling decisions earlier or later.
func shifted(t *trace.Trace) (out [][]schedule.Step) {
	events := slices.DeleteFunc(slices.Clone(t.Events), func(ev trace.Event) bool { return ev.Flags&trace.FlagNoDecision != 0 })
	for i := 1; i < len(events); i++ {
		from, to := events[i-1].Thread, events[i].Thread
		if from == to {
			continue
		}
		end := i + 1 // of to's interval
		for end < len(events) && events[end].Thread == to {
			end++
		}
		begin := i - 1 // of from's interval
		for begin > 0 && events[begin-1].Thread == from {
			begin--
		}
		for n := 1; n <= neighbourShift; n++ {
			if k := i - n; k >= begin { // from's last n operations come after to's interval
				out = append(out, schedule.Steps(slices.Concat(events[:k], events[i:end], events[k:i], events[end:])))
			}
			// from's next n operations come before to's interval
			var mine, rest []trace.Event
			for j := i; j < len(events); j++ {
				if events[j].Thread == from && len(mine) < n {
					mine = append(mine, events[j])
				} else {
					rest = append(rest, events[j])
				}
			}
			if len(mine) == n {
				out = append(out, schedule.Steps(slices.Concat(events[:i], mine, rest)))
			}
		}
	}
	return out
}
