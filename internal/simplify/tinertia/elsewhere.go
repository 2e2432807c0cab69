package tinertia

import (
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// elsewhereRuns is how many executions elsewhere makes in search of the bug.
	elsewhereRuns = 64
	// elsewhereStarts is how many of them it simplifies.
	elsewhereStarts = 4
)

// elsewhere searches for the bug under schedules unrelated to the current execution, and simplifies
// the executions that show it with Algorithm 1 and the operations that make small changes. It
// reports whether one became simpler than the current execution. The schedules are the same for
// every input, so their results do not depend on how the bug was found. A hang lasts as long as the
// step budget, which is too long for this.
func (s *search) elsewhere() (bool, error) {
	if !s.has(Elsewhere) || s.elsewhereDone || s.extra <= 0 || s.cur.trace.Ending.Kind == trace.Hang {
		return false, nil
	}
	s.elsewhereDone = true
	st := s.stats[Elsewhere]
	starts := 0
	for seed := range uint64(elsewhereRuns) {
		if err := s.mayExecute(); err != nil || starts == elsewhereStarts || s.extraOver() {
			return false, err
		}
		plan := s.plan
		plan.Mode, plan.Seed = schedule.NoScript, seed+1
		plan.Policy, plan.Stay = schedule.Random, [...]float64{0, 0.8, 0.95, 0.99}[seed%4]
		out, err := s.exec(s.ctx, plan)
		if err != nil {
			return false, err
		}
		st.Tried++
		st.Executed++
		if out.Trace == nil {
			return false, errNoTrace
		}
		steps := schedule.ScriptOf(out.Trace)
		v, err := s.judge(steps, out.Trace.Threads, out)
		if err != nil || !v.same || len(steps) == 0 {
			continue
		}
		starts++
		better, err := s.from(&search{
			ctx: s.ctx, exec: s.exec, same: s.same, plan: s.plan, header: s.header, memory: s.memory, batch: s.batch,
			visited: map[uint64]bool{}, stats: newStats(), cur: newSequence(v.trace, 0), tried: true,
		})
		if better || err != nil {
			return better, err
		}
	}
	return false, nil
}

// from simplifies the execution of another search, and accepts the result if it is simpler than the
// current execution. The executions count as those of Elsewhere.
func (s *search) from(other *search) (bool, error) {
	opts := *s.opts
	opts.Operations = []Operation{Coarsen, RemoveLast, MoveUp, MoveUpActions, MoveDown, TakeRejected, Cut, RunOn, Shift}
	opts.Progress, opts.Extra = nil, -1
	opts.MaxExecutions = s.opts.MaxExecutions - s.made
	other.opts = &opts
	other.setCurrent(other.cur.trace)
	err := other.simplify()
	s.made += other.made
	s.stats[Elsewhere].Executed += other.made
	// The other search began with an execution under another seed. Its simplified executions
	// have this seed.
	if other.gained == 0 || other.cur.cost.Compare(s.cur.cost) >= 0 {
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
