package tinertia

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// errEnough ends the search when Options.MaxExecutions or Options.Patience is reached.
var errEnough = errors.New("no executions left")

var errNoTrace = errors.New("simplify: the executor returned no trace although the plan asked for one")

// search holds the current execution and the results of earlier trials.
type search struct {
	ctx    context.Context
	exec   schedule.Executor
	same   func(trace.Ending) bool
	opts   *Options
	plan   schedule.Plan // fields that all plans share
	header trace.Header

	cur        *sequence
	kept       []schedule.Step // the decisions with which every execution begins
	keptHash   uint64
	memory     *memory
	visited    map[uint64]bool // hashes of the schedules of all executions that were current
	spare      *spare
	merged     *trace.Trace // that StaticMerge has reordered last
	stats      map[Operation]*OperationStats
	steps      []Accepted
	iteration  int
	made       int // executions
	gained     int // executions by the last acceptance
	work, vain int // events of the executions until then, and since
	extra      int // executions left for Restart beyond its passes
	extraEnd   time.Time
	otherwhere elsewhereState
	tried      bool // every operation was tried once without success
	batch      Batch
	ahead      map[uint64]schedule.Outcome // of candidates executed before their turn, by hash of the script
	frontier   *frontier
	gap        string // as frontier.gap, for reasons outside the frontier
	shared     bool   // an execution had a process that had done other executions
	apart      *apart // nil until needed
	exhausted  bool   // the frontier has no prefix left that could cost less than the current execution
}

// spare is the simplest execution that showed the bug but was rejected.
type spare struct {
	cost   trace.Cost
	trace  *trace.Trace
	shared bool // as verdict.shared
}

// pass applies a generator until it has no more candidates, and reports whether any was accepted.
// It stops after limit executions in a row without an acceptance.
func (s *search) pass(gen generator, start, limit int) (bool, error) {
	any := false
	for at := start; ; any = true {
		c, err := s.firstAcceptable(gen(s.cur, at), limit)
		if c == nil || err != nil {
			return any, err
		}
		at = c.resume
	}
}

// firstAcceptable tries candidates in order and returns the first accepted one, or nil.
func (s *search) firstAcceptable(candidates iter.Seq[candidate], limit int) (*candidate, error) {
	before := s.made
	next, stop := iter.Pull(candidates)
	defer stop()
	defer func() { s.ahead = nil }()
	for rejected := 0; ; {
		window := s.window(next, rejected, limit-(s.made-before))
		if len(window) == 0 {
			return nil, nil
		}
		if err := s.runAhead(window, limit-(s.made-before)); err != nil {
			return nil, err
		}
		for i := range window {
			if s.made-before >= limit {
				return nil, nil
			}
			if got, err := s.try(&window[i]); got != nil || err != nil {
				return got, err
			}
		}
		rejected += len(window)
	}
}

// unlimited is the limit for the passes of Algorithm 1, which have only as many candidates as TEIs.
const unlimited = math.MaxInt

// passLimit is the limit for passes with more candidates, which yield the most promising first.
func (s *search) passLimit() int { return min(300+4*len(s.cur.teis), s.affordable()) }

const (
	// passEvents bounds the scheduling decisions of the executions of a pass beyond Algorithm 1 that gains
	// nothing: an execution of a hundred thousand takes a second.
	passEvents = 1 << 20
	// leastAffordable is how many executions such a pass may make, however long they are.
	leastAffordable = 8
)

// affordable returns how many executions as long as the current one have passEvents.
func (s *search) affordable() int { return max(leastAffordable, passEvents/max(1, s.cur.cost.Events)) }

// try validates a candidate and, if it is rejected, those that its next returns. It returns the
// accepted one, or nil.
func (s *search) try(c *candidate) (*candidate, error) {
	threads := s.threadsOf(c)
	v := s.memory.find(c.script, threads)
	executed := v == nil
	if executed {
		var err error
		if v, err = s.execute(c.script, threads); err != nil {
			return nil, err
		}
	}
	st := s.stats[c.op]
	st.Tried++
	if executed {
		st.Executed++
	}
	accepted := s.acceptable(c, v)
	if accepted && v.shared {
		var err error
		if v, err = s.alone(c.script, threads); err != nil {
			return nil, err
		}
		st.Executed++
		accepted = s.acceptable(c, v)
	}
	if accepted {
		s.accept(c.op, v)
	} else if v.same && v.trace != nil && s.simpler(v.cost) && (s.spare == nil || v.cost.Compare(s.spare.cost) < 0) {
		s.spare = &spare{v.cost, v.trace, v.shared}
	}
	if executed && s.opts.Progress != nil {
		s.opts.Progress(Progress{c.op, s.made, s.iteration, accepted, s.cur.cost})
	}
	if accepted {
		return c, nil
	}
	if c.next != nil && v.trace != nil {
		for _, d := range c.next(v.trace) {
			if got, err := s.try(&d); got != nil || err != nil {
				return got, err
			}
		}
	}
	return nil, nil
}

// acceptable is the test of §4.2.1 with an additional condition: the same bug, no more switches
// than the bound, and a lower Cost than the current execution's (see simpler where there is no bound). For candidates with equal set, an
// equal Cost suffices if the schedule was never current before.
func (s *search) acceptable(c *candidate, v *verdict) bool {
	if !v.same || v.trace == nil || v.cost.Switches > c.bound {
		return false
	}
	order := v.cost.Compare(s.cur.cost)
	return order < 0 && (c.bound != unbounded || s.simpler(v.cost)) || order == 0 && c.equal && !s.visited[hashSchedule(stepsAfter(v.trace, len(s.kept)), v.trace.Threads)]
}

// accept makes an execution the current one.
func (s *search) accept(op Operation, v *verdict) {
	before := s.cur.cost
	s.setCurrent(v.trace)
	s.gained = s.made
	s.work, s.vain = s.work+s.vain, 0
	st := s.stats[op]
	st.Accepted++
	st.Switches += before.Switches - v.cost.Switches
	st.Preemptions += before.Preemptions - v.cost.Preemptions
	st.Threads += before.Threads - v.cost.Threads
	st.Events += before.Events - v.cost.Events
	a := Accepted{Operation: op, Iteration: s.iteration, Execution: s.made, Cost: v.cost}
	if s.opts.History {
		a.Trace = v.trace
	}
	s.steps = append(s.steps, a)
	if s.spare != nil && s.spare.cost.Compare(v.cost) >= 0 {
		s.spare = nil
	}
}

// simpler reports whether an execution of cost c is worth continuing from for an operation beyond the paper: it
// costs less, and if only by events, by a part of them that a reader notices. Taking the events of a long
// execution away one by one would take an execution for each.
func (s *search) simpler(c trace.Cost) bool {
	cur := s.cur.cost
	if c.Compare(cur) >= 0 {
		return false
	}
	cur.Events -= cur.Events / noticeable
	return c.Compare(cur) <= 0
}

// noticeable is the part of an execution's events that is worth an execution to leave out: one in that many.
const noticeable = 64

func (s *search) setCurrent(t *trace.Trace) {
	s.cur = newSequence(t, len(s.kept))
	s.visited[hashSchedule(s.cur.steps, t.Threads)] = true
}

// takeRejected makes the spare execution current, if any. It executes it again only if its process
// had done other executions.
func (s *search) takeRejected() (bool, error) {
	spare := s.spare
	if s.spare = nil; spare == nil {
		return false, nil
	}
	s.stats[TakeRejected].Tried++
	v := &verdict{same: true, cost: spare.cost, trace: spare.trace, shared: spare.shared}
	if v.shared {
		var err error
		if v, err = s.simplerAlone(TakeRejected, v); v == nil {
			return false, err
		}
	}
	s.accept(TakeRejected, v)
	return true, nil
}

func (s *search) outOfPatience() bool {
	return s.opts.Patience > 0 && s.vain > max(s.opts.Patience, 2*s.work)
}

// execute runs a script and stores the result.
func (s *search) execute(script []schedule.Step, threads []trace.Thread) (*verdict, error) {
	if err := s.mayExecute(); err != nil {
		return nil, err
	}
	h := hashSchedule(script, threads)
	out, ok := s.ahead[h]
	if ok {
		delete(s.ahead, h)
	} else {
		var err error
		if out, err = s.exec(s.ctx, s.planOf(script, threads)); err != nil {
			return nil, err
		}
	}
	return s.judge(script, threads, out)
}

// alone executes a script again in a process that has done nothing else. The bug may need what an
// earlier execution in its process left behind.
func (s *search) alone(script []schedule.Step, threads []trace.Thread) (*verdict, error) {
	if err := s.mayExecute(); err != nil {
		return nil, err
	}
	out, err := s.exec(s.ctx, s.planOf(script, threads))
	if err != nil {
		return nil, err
	}
	return s.judge(script, threads, out)
}

// simplerAlone executes the schedule of v again as alone does, for an operation. It returns nil if the
// execution is not simpler than the current one then.
func (s *search) simplerAlone(op Operation, v *verdict) (*verdict, error) {
	again, err := s.alone(stepsAfter(v.trace, len(s.kept)), v.trace.Threads)
	if err != nil {
		return nil, err
	}
	s.stats[op].Executed++
	if !again.same || !s.simpler(again.cost) {
		return nil, nil
	}
	return again, nil
}

func (s *search) mayExecute() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.made >= s.opts.MaxExecutions || s.outOfPatience() {
		return errEnough
	}
	return nil
}

func (s *search) planOf(script []schedule.Step, threads []trace.Thread) schedule.Plan {
	plan := s.plan
	plan.Script = script
	if len(s.kept) > 0 {
		plan.Script = splice(s.kept, script)
	}
	plan.Threads = threads
	return plan
}

// judge stores the outcome of a script.
func (s *search) judge(script []schedule.Step, threads []trace.Thread, out schedule.Outcome) (*verdict, error) {
	s.made++
	if out.Trace == nil {
		return nil, errNoTrace
	}
	s.shared = s.shared || out.Shared
	switch {
	case out.External:
		s.gap = cmp.Or(s.gap, gapOutside)
	case out.Random:
		s.gap = cmp.Or(s.gap, gapRandom)
	case out.Trace.Header.MaxAccesses != 0 && s.plan.Accesses:
		s.gap = cmp.Or(s.gap, gapAccesses)
	}
	s.vain += len(out.Trace.Events)
	v := s.verdictOf(&out)
	s.memory.add(script, threads, v, len(s.kept))
	return v, nil
}

// verdictOf returns the verdict on an outcome that has a trace.
func (s *search) verdictOf(out *schedule.Outcome) *verdict {
	t := *out.Trace
	t.Header = s.header.Executed(t.Header)
	v := &verdict{cost: trace.CostOf(t.Events), trace: &t, shared: out.Shared}
	// These two endings mean that the plan was not carried out. They never show the bug, even
	// if the predicate accepts them.
	if k := out.Ending.Kind; k != trace.Unsupported && k != trace.Diverged {
		v.same = s.same(out.Ending)
	}
	if len(s.kept) > 0 && !s.keeps(&t) {
		v.same, v.strayed = false, true
	}
	return v
}

// keeps reports whether an execution begins with the decisions that are kept.
func (s *search) keeps(t *trace.Trace) bool {
	events := choices(t.Events)
	if len(events) <= len(s.kept) {
		return false
	}
	return hashSchedule(schedule.Steps(events[:len(s.kept)]), t.Threads) == s.keptHash
}

// executeAll executes prefixes, several at a time where the batch executor can, and calls do with
// their results in order. A result from memory is not executed again unless its trace was dropped.
//
// do also gets the views of executions that look has made, in parallel to the executions.
func (s *search) executeAll(batch []*prefix, look func(*trace.Trace) *view, do func(p *prefix, v *verdict, seen *view, executed bool)) error {
	scripts := make([][]schedule.Step, len(batch))
	known := make([]*verdict, len(batch))
	var plans []schedule.Plan
	var index []int // of plans in batch
	threadsOf := func(p *prefix) []trace.Thread {
		if p.threads == nil {
			return s.cur.trace.Threads
		}
		return p.threads
	}
	for i, p := range batch {
		scripts[i] = p.script()
		if s.batch == nil {
			continue
		}
		if v := s.memory.find(scripts[i], threadsOf(p)); v != nil && v.trace != nil {
			kept := *v // memory may drop the trace before its turn
			known[i] = &kept
		} else {
			plans, index = append(plans, s.planOf(scripts[i], threadsOf(p))), append(index, i)
		}
	}
	if s.batch == nil {
		for i, p := range batch {
			v := s.memory.find(scripts[i], threadsOf(p))
			executed := v == nil || v.trace == nil
			if executed {
				var err error
				if v, err = s.execute(scripts[i], threadsOf(p)); err != nil {
					return err
				}
			}
			do(p, v, nil, executed)
		}
		return nil
	}
	next := 0 // number of results already passed to do
	recall := func(until int) {
		for ; next < until; next++ {
			do(batch[next], known[next], nil, false)
		}
	}
	if err := s.mayExecute(); err != nil {
		return err
	}
	plans = plans[:min(len(plans), s.opts.MaxExecutions-s.made)]
	var failed error
	views := make([]*view, len(plans))
	err := s.batch(s.ctx, plans, func(n int, out *schedule.Outcome) {
		if out.Trace != nil {
			views[n] = look(out.Trace)
		}
	}, func(n int, out schedule.Outcome) bool {
		i := index[n]
		recall(i)
		var v *verdict
		if v, failed = s.judge(scripts[i], threadsOf(batch[i]), out); failed != nil {
			return false
		}
		do(batch[i], v, views[n], true)
		views[n] = nil
		next++
		return true
	})
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return err
	case len(plans) < len(index):
		return errEnough
	}
	recall(len(batch))
	return nil
}
