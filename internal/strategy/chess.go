package strategy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
)

// CHESS executes all schedules with no preemption, then all with one, and so on: iterative context
// bounding (Musuvathi, Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded
// Programs", PLDI 2007, §3) with the fair scheduler of Musuvathi and Qadeer, "Fair Stateless Model
// Checking", PLDI 2008, algorithm 1. A plan is a prefix of decisions, followed strictly, and from
// there the policy that does not preempt.
//
// With delays the cost of a schedule is not its number of preemptions but of delays: delay-bounded
// scheduling (Emmi, Qadeer, Rakamarić, "Delay-Bounded Scheduling", POPL 2011, §3). The deterministic
// scheduler is the policy that does not preempt, and a delay passes over the thread that it has chosen,
// to the next enabled one in order of creation, and round. A schedule that chooses the k-th thread after
// the scheduler's costs k delays. The number of schedules with d delays in an execution of n decisions is
// at most the sum of C(n+i-1, i) for i up to d, whatever the number of threads.
//
// There is no partial-order reduction. A reduced search keeps one of several equivalent executions,
// and that one may have more preemptions than another, so sleep sets are unsound under a bound
// (Coons, Musuvathi, McKinley, OOPSLA 2013, §3).
//
// Differences from the papers:
//
//   - A context switch away from a thread that yields is not a preemption, and neither is one that
//     the policy makes on its own, because a thread spins or has run for long: continuing with that
//     thread is free, too.
//   - Other results of an operation (which waiter a signal wakes, which case of a select is tried
//     first) are branches, which are free.
//   - The fair scheduler considers only threads that yield. A loop that waits without a yield is
//     unfolded up to the step budget.
type CHESS struct {
	setting Setting
	state   chessState
}

// chessState is what MarshalBinary saves (chess_state.go).
type chessState struct {
	enumeration
	// Bound is the largest cost to explore; negative for any. The cost of a schedule is its number of
	// preemptions, or of delays.
	Bound  int  `json:"bound"`
	Delays bool `json:"delays,omitempty"`
	// Frontier holds the branches that have not been planned, by their cost; Flying are those
	// in flight, by Request.Key.
	Frontier map[int][]*branch `json:"frontier"`
	Flying   map[int]*branch   `json:"flying"`
	Keys     int               `json:"keys"`
	Started  bool              `json:"started"`
	// Executions are those made, by cost; those that cost more than the last complete bound are among
	// them.
	Executions map[int]int `json:"executions"`
	Beyond     bool        `json:"beyond"` // there are schedules that cost more than Bound
	Oldest     int         `json:"oldest"` // keys up to this one belong to an earlier set of scheduling points
}

// branch is a prefix of decisions that no execution has had yet.
type branch struct {
	Prefix []schedule.Step // shared with other branches of the same execution
	Step   schedule.Step   // the decision after it; none for the root
	Cost   int
	Root   bool
	// Variant means that Step is another result of an operation whose first one was explored, and
	// with it the question which others there are.
	Variant bool
	// Of is set in a branch whose execution shows what the threads that the branch Of left would have
	// done; Known is what it showed. Of is then executed again.
	Of    *branch
	Known []waiter
}

// length returns the number of decisions that the branch's plan makes.
func (b *branch) length() int {
	if b.Root {
		return 0
	}
	return len(b.Prefix) + 1
}

// NewCHESS returns a search of all schedules with at most bound preemptions; negative means any
// number.
func NewCHESS(s Setting, bound int) *CHESS {
	c := &CHESS{setting: s}
	c.state.Bound = bound
	c.state.Points = s.Points
	c.restart()
	return c
}

// NewDelays returns a search of all schedules with at most bound delays; negative means any number.
func NewDelays(s Setting, bound int) *CHESS {
	c := NewCHESS(s, bound)
	c.state.Delays = true
	return c
}

// restart forgets all branches, and makes the first execution the only one. Executions in flight do
// not count.
func (c *CHESS) restart() {
	s := &c.state
	s.Frontier, s.Flying, s.Executions, s.Oldest = map[int][]*branch{}, map[int]*branch{}, map[int]int{}, s.Keys
	s.Beyond = false
}

func (c *CHESS) String() string {
	name, cost := "chess", "preemptions"
	if c.state.Delays {
		name, cost = "delay", "delays"
	}
	if c.state.Bound >= 0 {
		return fmt.Sprintf("%s %s=%d", name, cost, c.state.Bound)
	}
	return name
}

// Stage implements Strategy. A round begins when the scheduling points grow.
func (c *CHESS) Stage() Stage {
	return Stage{Round: c.state.Rounds, Points: len(c.state.Points)}
}

// bound returns the least cost of a branch that has not been observed; ok is false if all have
// been observed.
func (s *chessState) bound() (least int, ok bool) {
	for _, n := range slices.Collect(maps.Keys(s.Frontier)) {
		if !ok || n < least {
			least, ok = n, true
		}
	}
	for _, b := range s.Flying {
		if !ok || b.Cost < least {
			least, ok = b.Cost, true
		}
	}
	return least, ok
}

// Coverage implements Exhaustive. During a search it tells of the largest bound up to which the
// search is complete.
func (c *CHESS) Coverage() (Coverage, bool) {
	s := &c.state
	least, more := s.bound()
	out := Coverage{Preemptions: s.Bound, Delays: s.Delays, Behaviours: len(s.Seen), Fair: s.Unfair, Missing: s.Missing, Departed: s.Departed}
	switch {
	case !s.Started || more && least == 0:
		return out, false
	case more:
		out.Preemptions = least - 1
	case !s.Beyond:
		out.Preemptions = -1
	}
	for n, count := range s.Executions {
		if out.Preemptions < 0 || n <= out.Preemptions {
			out.Executions += count
		}
	}
	out.Complete = len(s.Missing) == 0
	return out, true
}

// Next implements Strategy.
func (c *CHESS) Next(left int) (Request, bool) {
	s := &c.state
	if left == 0 || !s.Started || len(s.Frontier) == 0 {
		return Request{}, false
	}
	least := slices.Min(slices.Collect(maps.Keys(s.Frontier)))
	if first, _ := s.bound(); first < least {
		return Request{}, false // executions in flight may add branches that come earlier
	}
	bs := s.Frontier[least]
	b := bs[len(bs)-1]
	if s.Frontier[least] = bs[:len(bs)-1]; len(bs) == 1 {
		delete(s.Frontier, least)
	}
	plan := schedule.Plan{Policy: schedule.Fair, Seed: c.setting.FirstSeed(), Repeat: 1, Points: s.Points, Record: true}
	if !b.Root {
		plan.Mode, plan.Script, plan.Threads = schedule.Strict, append(slices.Clip(b.Prefix), b.Step), slices.Clip(s.Dir.Threads)
	}
	s.Keys++
	s.Flying[s.Keys] = b
	return Request{Plan: plan, Observe: true, Key: s.Keys}, true
}

// Observe implements Strategy.
func (c *CHESS) Observe(o *Observation) {
	s := &c.state
	b := &branch{Root: true}
	if o.Request.Key != First {
		if o.Request.Key <= s.Oldest {
			return
		}
		b = s.Flying[o.Request.Key]
		delete(s.Flying, o.Request.Key)
	}
	s.Started = true
	if of := b.Of; of != nil {
		if o.Outcome != nil && o.Outcome.Trace != nil {
			of.Known = s.Dir.waiters(o.Outcome)
		}
		if len(of.Known) == 0 {
			s.miss(unknownStep)
			return
		}
		s.Frontier[of.Cost] = append(s.Frontier[of.Cost], of)
		return
	}
	if s.raced(o) {
		c.restart()
		s.Frontier[0] = []*branch{{Root: true}}
		return
	}
	r := s.look(o)
	if r == nil {
		return
	}
	if len(r.decisions) < b.length() {
		s.miss("an execution ended before its schedule did, so the program depends on more than the schedule")
		return
	}
	if len(b.Known) > 0 {
		r.know(b.Known)
		b.Known = nil
	} else if r.untold && len(s.Missing) == 0 {
		prefix, last := r.probe()
		s.Frontier[b.Cost] = append(s.Frontier[b.Cost], &branch{Prefix: prefix, Step: last, Cost: b.Cost, Of: b})
		return
	}
	s.Executions[b.Cost]++
	c.branches(r, b)
}

// branches adds the decisions that an execution could have made differently after its prefix.
func (c *CHESS) branches(r *recorded, b *branch) {
	s := &c.state
	var f fairness
	steps := make([]schedule.Step, len(r.decisions))
	for i := range r.decisions {
		x := &r.decisions[i]
		last := -1
		if i > 0 {
			last = r.decisions[i-1].thread()
		}
		steps[i] = x.step
		add := func(step schedule.Step, variant bool) {
			n := b.Cost
			t := int(step.Thread)
			if s.Delays {
				if !variant {
					n += x.delays(t)
				}
			} else if !variant && last >= 0 && t != last && x.thread() == last && slices.Contains(x.enabled, last) && !x.yields {
				n++
			}
			if s.Bound < 0 || n <= s.Bound {
				s.Frontier[n] = append(s.Frontier[n], &branch{Prefix: steps[:i:i], Step: step, Cost: n, Variant: variant})
			} else {
				s.Beyond = true
			}
		}
		if i >= b.length()-1 && !(i == b.length()-1 && b.Variant) {
			for _, other := range x.others {
				add(other, true)
			}
		}
		if i >= b.length() {
			for _, t := range x.enabled {
				if t == x.thread() || f.waits(t, x.enabled) {
					continue
				}
				if step, ok := r.pending(i, t); ok {
					add(step, false)
				} else {
					s.miss(unknownStep)
				}
			}
		}
		f.step(x, r, i)
	}
}

// delays returns how many threads the deterministic scheduler passes over to choose thread t instead of the
// decision's own: 1 for the next one enabled in order of creation, and round.
func (x *decision) delays(t int) int {
	return (slices.Index(x.created, t) - slices.Index(x.created, x.thread()) + len(x.created)) % len(x.created)
}

// fairness is the state of the fair scheduler: thread t waits for u if (t, u) is in its relation P
// and u is enabled.
type fairness struct {
	below map[[2]int]bool
	// Since the thread's last yield: who was enabled all the time, who was disabled by it, and who
	// was scheduled.
	enabled, disabled, scheduled map[int]map[int]bool
}

// waits reports whether t may not run while those threads are enabled.
func (f *fairness) waits(t int, enabled []int) bool {
	return slices.ContainsFunc(enabled, func(u int) bool { return f.below[[2]int{t, u}] })
}

// step applies decision i.
func (f *fairness) step(x *decision, r *recorded, i int) {
	t := x.thread()
	if f.below == nil {
		f.below = map[[2]int]bool{}
		f.enabled, f.disabled, f.scheduled = map[int]map[int]bool{}, map[int]map[int]bool{}, map[int]map[int]bool{}
	}
	for p := range f.below {
		if p[1] == t {
			delete(f.below, p)
		}
	}
	var after []int
	if i+1 < len(r.decisions) {
		after = r.decisions[i+1].enabled
	}
	for u, e := range f.enabled {
		maps.DeleteFunc(e, func(v int, _ bool) bool { return !slices.Contains(after, v) })
		if u == t {
			for _, v := range x.enabled {
				if v != t && !slices.Contains(after, v) {
					f.disabled[t][v] = true
				}
			}
		}
		f.scheduled[u][t] = true
	}
	if !x.yields {
		return
	}
	if f.enabled[t] != nil {
		for _, from := range []map[int]bool{f.enabled[t], f.disabled[t]} {
			for v := range from {
				if v != t && !f.scheduled[t][v] {
					f.below[[2]int{t, v}] = true
				}
			}
		}
	}
	f.enabled[t], f.disabled[t], f.scheduled[t] = map[int]bool{}, map[int]bool{}, map[int]bool{}
	for _, v := range after {
		f.enabled[t][v] = true
	}
}
