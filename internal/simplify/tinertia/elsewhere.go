package tinertia

import (
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// elsewhereState is what elsewhere has done and has to do.
type elsewhereState struct {
	runs, starts int
	found        []*trace.Trace // that show the bug and were not simplified yet, the simplest last
}

const (
	// elsewhereRuns is how many executions elsewhere makes in search of the bug.
	elsewhereRuns = 64
	// elsewhereRound is how many of them it makes before it simplifies those that show it.
	elsewhereRound = 16
	// elsewhereStarts is how many of them it simplifies.
	elsewhereStarts = 4
)

// elsewhere searches for the bug under schedules unrelated to the current execution, and simplifies
// executions that show it with Algorithm 1. It reports whether one became simpler than the current execution;
// the next call continues with the others. The schedules are the same for every input, so their results do not
// depend on how the bug was found. A hang lasts as long as the step budget, which is too long for this.
func (s *search) elsewhere() (bool, error) {
	if !s.has(Elsewhere) || s.extra <= 0 || s.cur.trace.Ending.Kind == trace.Hang {
		return false, nil
	}
	e := &s.otherwhere
	for {
		for len(e.found) > 0 && e.starts < elsewhereStarts {
			last := len(e.found) - 1
			t := e.found[last]
			e.found, e.starts = e.found[:last], e.starts+1
			better, err := s.from(&search{
				ctx: s.ctx, exec: s.exec, same: s.same, plan: s.plan, header: s.header, memory: s.memory, batch: s.batch,
				visited: map[uint64]bool{}, stats: newStats(), cur: newSequence(t, 0), tried: true,
			})
			if better || err != nil {
				return better, err
			}
		}
		runs := min(elsewhereRuns, s.affordable()) - e.runs
		if e.starts == elsewhereStarts || runs <= 0 || s.extraOver() {
			return false, nil
		}
		if err := s.findElsewhere(min(runs, elsewhereRound)); err != nil {
			return false, err
		}
	}
}

// findElsewhere makes random executions, and keeps those that show the bug.
func (s *search) findElsewhere(runs int) error {
	e := &s.otherwhere
	costs := map[*trace.Trace]trace.Cost{}
	for range runs {
		if err := s.mayExecute(); err != nil {
			return err
		}
		plan := s.plan
		plan.Mode, plan.Seed = schedule.NoScript, uint64(e.runs)+1
		plan.Policy, plan.Stay = schedule.Random, [...]float64{0, 0.8, 0.95, 0.99}[e.runs%4]
		e.runs++
		out, err := s.exec(s.ctx, plan)
		if err != nil {
			return err
		}
		st := s.stats[Elsewhere]
		st.Tried++
		st.Executed++
		if out.Trace == nil {
			return errNoTrace
		}
		steps := schedule.ScriptOf(out.Trace)
		v, err := s.judge(steps, out.Trace.Threads, out)
		if err != nil {
			return err
		}
		if !v.same || len(steps) == 0 {
			continue
		}
		t := v.trace
		if s.opts.Reorder != nil {
			// The simplest is the one that is so after what costs least.
			if t, err = s.opts.Reorder(s.ctx, t, 0); err != nil {
				return err
			}
		}
		costs[v.trace] = trace.CostOf(choices(t.Events))
		e.found = append(e.found, v.trace)
	}
	slices.SortStableFunc(e.found, func(a, b *trace.Trace) int { return costs[b].Compare(costs[a]) })
	return nil
}

// from simplifies the execution of another search, and accepts the result if it is simpler than the
// current execution. The executions count as those of Elsewhere.
func (s *search) from(other *search) (bool, error) {
	opts := *s.opts
	opts.Operations = []Operation{StaticMerge, Coarsen, RemoveLast, MoveUp, MoveUpActions, MoveDown, TakeRejected}
	if s.cur.trace.Ending.Kind == trace.Deadlock {
		// What is removed runs all the same before no thread is enabled.
		opts.Operations = slices.DeleteFunc(opts.Operations, func(op Operation) bool { return op == RemoveLast })
	}
	opts.Progress, opts.Extra = nil, -1
	opts.MaxExecutions = s.opts.MaxExecutions - s.made
	other.opts = &opts
	other.setCurrent(other.cur.trace)
	err := other.simplify()
	s.made += other.made
	s.stats[Elsewhere].Executed += other.made
	// The other search began with an execution under another seed. Its simplified executions
	// have this seed.
	if other.gained == 0 || !s.simpler(other.cur.cost) {
		return false, err
	}
	s.accept(Elsewhere, &verdict{same: true, cost: other.cur.cost, trace: other.cur.trace})
	return true, err
}

// newStats returns the counters of all operations.
func newStats() map[Operation]*OperationStats {
	stats := map[Operation]*OperationStats{}
	for _, op := range All() {
		stats[op] = &OperationStats{Operation: op, Beyond: op.Beyond()}
	}
	return stats
}
