package strategy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// DPOR executes each behaviour of a program once: dynamic partial-order reduction with source sets
// and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, "Optimal Dynamic Partial Order Reduction",
// POPL 2014, algorithm 1). Two executions have the same behaviour if they order dependent operations
// in the same way (footprint); they then reach the same states.
//
// The search is depth first. Its stack has a node for each decision of the last execution. A plan is
// the stack's decisions up to a branch, followed strictly, and from there the policy that does not
// preempt. In the recording of an execution the search looks for races: an operation e' that is
// dependent on an earlier one e of another thread and is not ordered after e by what e”s thread did
// before. If nothing at the node of e leads to executions in which e' comes first, a thread that
// does is added there. A thread that has been explored at a node is asleep in the branches after it
// until a dependent operation is performed: executions in which it comes first are known.
//
// Differences from the paper:
//
//   - The paper assumes that no operation disables another. Here locks do, so a race is looked for
//     with every earlier dependent operation that does not happen before the thread's previous
//     operation, not only with adjacent ones (Flanagan, Godefroid, POPL 2005, §4): two locks of a
//     mutex race, although an unlock is between them. Races that cannot be reversed, since e enabled
//     e', are recognised by the recorded sets of enabled threads where these tell, and otherwise
//     cost redundant executions only.
//   - An operation may have several results: which waiter a signal wakes, which case of a select is
//     tried first. Its thread is asleep once all of them have been explored.
//   - The policy does not know the sleep sets. An execution that it continues with a sleeping
//     thread runs to its end; it is equivalent to an earlier one and counts as redundant.
type DPOR struct {
	setting Setting
	state   dporState
	flying  bool
}

// dporState is what MarshalBinary saves.
type dporState struct {
	enumeration
	Stack      []*dporNode `json:"stack"`
	Started    bool        `json:"started"` // the root execution has been observed
	Done       bool        `json:"done"`
	Executions int         `json:"executions"`
	Redundant  int         `json:"redundant"`
	Planned    int         `json:"planned"`
	// Probe is the script of an execution that shows what a thread that the last one left would have
	// done: the first of Ask. Known is what was shown. Once all are known (Asked), the last execution
	// is made again.
	Probe []schedule.Step `json:"probe,omitempty"`
	Ask   []int           `json:"ask,omitempty"`
	Known []waiter        `json:"known,omitempty"`
	Asked bool            `json:"asked,omitempty"`
	// Bound is the largest number of preemptions; negative for any. Beyond means that a decision was
	// left out because of it.
	Bound  int  `json:"bound"`
	Beyond bool `json:"beyond,omitempty"`
}

// dporNode is a state of the program: the one before the decision with its index.
type dporNode struct {
	Enabled []int          `json:"e"`
	Sleep   []sleeper      `json:"z,omitempty"` // inherited
	Done    []sleeper      `json:"d,omitempty"` // explored here
	Todo    []continuation `json:"t,omitempty"`
	// The decision being explored. Blocked means that none is: the policy continued with a thread that is
	// asleep.
	Step schedule.Step `json:"s"`
	// Rest is what the plan performs after the step, before the policy decides.
	Rest    []schedule.Step `json:"r,omitempty"`
	Uses    footprint       `json:"u,omitempty"`
	Clock   []int32         `json:"c,omitempty"`
	Blocked bool            `json:"b,omitempty"`
	// Tried are the other ways of performing the step, which are known once it has been performed.
	Tried bool `json:"v,omitempty"`
	// With a bound: the preemptions before the decision, and the thread that goes on unless it is
	// preempted, or -1.
	Cost  int `json:"p,omitempty"`
	Stays int `json:"l,omitempty"`
}

// continuation is what is to be explored at a node: a step, and what follows it.
type continuation struct {
	Step schedule.Step   `json:"s"`
	Rest []schedule.Step `json:"r,omitempty"`
}

// sleeper is a thread whose next operation has been explored.
type sleeper struct {
	Thread int       `json:"t"`
	Uses   footprint `json:"u,omitempty"`
}

func sleeps(z []sleeper, thread int) bool {
	return slices.ContainsFunc(z, func(s sleeper) bool { return s.Thread == thread })
}

// NewDPOR returns a search of all behaviours.
func NewDPOR(s Setting) *DPOR {
	d := &DPOR{setting: s}
	d.state.Points, d.state.Bound = s.Points, -1
	return d
}

func (d *DPOR) String() string {
	if d.bounded() {
		return fmt.Sprintf("dpor preemptions=%d", d.state.Bound)
	}
	return "dpor"
}

// Stage implements Strategy. A round begins when the scheduling points grow.
func (d *DPOR) Stage() Stage {
	return Stage{Round: d.state.Rounds, Points: len(d.state.Points)}
}

// MarshalBinary implements Strategy.
func (d *DPOR) MarshalBinary() ([]byte, error) { return json.Marshal(&d.state) }

// UnmarshalBinary implements Strategy.
func (d *DPOR) UnmarshalBinary(data []byte) error {
	var s dporState
	if err := strict(data, &s); err != nil {
		return err
	}
	if s.Bound != d.state.Bound {
		return fmt.Errorf("it explores up to %d preemptions, and this search up to %d: give the same --preemptions", s.Bound, d.state.Bound)
	}
	d.state = s
	d.flying = s.Planned > 0
	return nil
}

// Coverage implements Exhaustive.
func (d *DPOR) Coverage() (Coverage, bool) {
	s := &d.state
	bound := -1
	if s.Beyond {
		bound = s.Bound
	}
	return Coverage{
		Complete: s.Done && len(s.Missing) == 0 && !s.Unfair, Preemptions: bound, Executions: s.Executions, Behaviours: len(s.Seen), Redundant: s.Redundant,
		Reduced: true, Fair: s.Unfair, Missing: s.Missing, Departed: s.Departed,
	}, s.Started
}

// Next implements Strategy. Only one plan is in flight, since the next one follows from it.
func (d *DPOR) Next(left int) (Request, bool) {
	s := &d.state
	if d.flying || s.Done || left == 0 {
		return Request{}, false
	}
	plan := schedule.Plan{Policy: schedule.Fair, Seed: d.setting.FirstSeed(), Repeat: 1, Points: s.Points, Record: true}
	if len(s.Probe) > 0 {
		plan.Mode, plan.Threads, plan.Script = schedule.Strict, s.Dir.Threads, s.Probe
	} else if len(s.Stack) > 0 {
		plan.Mode = schedule.Strict
		plan.Threads = s.Dir.Threads
		for _, n := range s.Stack {
			plan.Script = append(plan.Script, n.Step)
		}
		plan.Script = append(plan.Script, s.Stack[len(s.Stack)-1].Rest...)
	}
	d.flying = true
	s.Planned = 1
	return Request{Plan: plan, Observe: true}, true
}

// Observe implements Strategy.
func (d *DPOR) Observe(o *Observation) {
	s := &d.state
	if s.Done {
		return
	}
	if o.Request.Key == First && s.Started {
		return
	}
	if o.Request.Key != First {
		d.flying = false
		s.Planned = 0
	}
	if len(s.Probe) > 0 && o.Request.Key != First {
		s.answer(o.Outcome)
		return
	}
	if s.raced(o) {
		// Another space: its executions are those of the program with more scheduling points.
		s.Stack, s.Executions, s.Redundant, s.Beyond = nil, 0, 0, false
		s.Known, s.Asked = nil, false
		s.Started = true
		return
	}
	s.Started = true
	if n := len(s.Stack); n > 0 && len(s.Stack[n-1].Rest) > 0 {
		top := s.Stack[n-1]
		top.Rest = nil
		if o.Outcome != nil && o.Outcome.Ending.Kind == trace.Diverged && !strayed(o.Outcome.Diverged) {
			s.Redundant++
			return // the policy decides instead
		}
	}
	if !s.short(o) {
		s.Done = true
		return
	}
	prefix := len(s.Stack)
	r := s.look(o)
	if r != nil && len(r.decisions) < prefix {
		s.miss("an execution ended before its schedule did, so the program depends on more than the schedule")
		r = nil
	}
	if r != nil && o.Outcome.Trace.Header.Target == "go" {
		// The footprints of Go's mutexes and semaphores are not right: an execution that is redundant
		// by them may show another behaviour.
		s.miss("dpor does not find all behaviours of Go programs")
	}
	if r != nil && r.handlers {
		s.miss("the thread that ended last ran handlers of the process's end, and dpor does not enumerate which one that is")
	}
	if r != nil && s.Asked {
		r.know(s.Known)
		s.Known, s.Asked = nil, false
	} else if r != nil && r.untold && len(s.Missing) == 0 {
		prefix, last := r.probe()
		s.Ask = r.left()
		last.Thread = trace.ThreadID(s.Ask[0])
		s.Probe = append(prefix, last)
		return
	}
	if r != nil {
		d.repeats(r, max(prefix-1, 0))
		d.extend(r, max(prefix-1, 0))
	}
	d.backtrack()
}

// strayed reports whether a thread came to another operation than before. Otherwise its operation was not possible.
func strayed(d *schedule.Divergence) bool {
	return d != nil && d.Met.Thread == d.Expected.Thread && d.Met.Op != trace.OpNone && (d.Met.Op != d.Expected.Op || d.Met.Site != d.Expected.Site)
}

// repeats checks that the first n decisions of an execution are those of the earlier execution whose schedule it followed.
func (d *DPOR) repeats(r *recorded, n int) {
	for i, node := range d.state.Stack[:n] {
		x := &r.decisions[i]
		same := node.Uses.all() || x.uses.all() || slices.Equal(node.Uses, x.uses)
		if !same || !slices.Equal(node.Enabled, x.enabled) {
			d.state.miss("an execution with the same schedule as another one had other operations or enabled threads, so the program depends on more than the schedule")
			return
		}
	}
}

// answer learns from a probe.
func (s *dporState) answer(o *schedule.Outcome) {
	if o != nil && o.Trace != nil {
		if ws := s.Dir.waiters(o); len(ws) > 0 {
			s.Known, s.Ask = ws, nil
		} else if d := o.Diverged; d != nil && d.Met.Thread >= 0 && d.Met.Op != trace.OpNone {
			step := schedule.Step{Thread: trace.ThreadID(s.Ask[0]), Op: d.Met.Op, Site: d.Met.Site, Wake: -1}
			if step.Op == trace.OpSelect {
				step.Choice = 1
			}
			s.Known = append(s.Known, waiter{step, everything})
		}
	}
	if len(s.Ask) > 1 {
		s.Ask = s.Ask[1:]
		s.Probe = slices.Clone(s.Probe)
		s.Probe[len(s.Probe)-1].Thread = trace.ThreadID(s.Ask[0])
		return
	}
	// A thread that could run and has not answered is noticed when the execution is made again.
	s.Probe, s.Ask, s.Asked = nil, nil, true
}

// longest is how many events an execution may have. The search compares each decision with all earlier
// ones.
const longest = 5000

func (s *dporState) short(o *Observation) bool {
	if o.Outcome == nil || o.Outcome.Trace == nil || len(o.Outcome.Trace.Events) <= longest {
		return true
	}
	s.miss("an execution has more than 5,000 events, which is too long for dpor: use chess")
	return false
}

// extend pushes the decisions of an execution from number from on, whose node exists unless the
// stack is empty, and adds what they show to backtrack to.
func (d *DPOR) extend(r *recorded, from int) {
	s := &d.state
	redundant := false
	for i := from; i < len(r.decisions); i++ {
		x := &r.decisions[i]
		if i == len(s.Stack) {
			n := &dporNode{Enabled: x.enabled}
			if i > 0 && !d.bounded() {
				n.Sleep = s.Stack[i-1].wakes()
			}
			s.Stack = append(s.Stack, n)
			if d.bounded() {
				d.pay(i, x)
			}
		}
		n := s.Stack[i]
		if sleeps(n.Sleep, x.thread()) {
			redundant = true
			n.Blocked = true
			// The operations so far are new if another thread can go on from here.
			for _, t := range n.Enabled {
				if sleeps(n.Sleep, t) {
					continue
				}
				d.add(r, i, t)
				break
			}
			d.blocked(r, i)
			break
		}
		n.Step, n.Uses = x.step, x.uses
		if !n.Tried {
			n.Tried = true
			for _, other := range slices.Backward(x.others) {
				n.Todo = slices.Insert(n.Todo, 0, continuation{Step: other})
			}
		}
		d.races(r, i)
	}
	if redundant {
		s.Redundant++
	} else {
		d.ends(r)
		s.Executions++
	}
}

const unknownStep = "the program ended while threads could run, and what they would do is not recorded"

// wakes returns the threads asleep after the node's step.
func (n *dporNode) wakes() (out []sleeper) {
	for _, z := range slices.Concat(n.Sleep, n.Done) {
		if z.Thread != int(n.Step.Thread) && !z.Uses.conflicts(n.Uses) {
			out = append(out, z)
		}
	}
	return out
}

// races sets the clock of decision i and adds to the nodes before it what reverses its races.
func (d *DPOR) races(r *recorded, i int) {
	n := d.state.Stack[i]
	n.Clock = d.race(r, i, int(n.Step.Thread), n.Uses)
}

// race looks for races of thread me's operation with the decisions before i, where it comes next, or
// would have come. It adds to their nodes what reverses them and returns the operation's clock.
func (d *DPOR) race(r *recorded, i, me int, uses footprint) []int32 {
	s := &d.state
	// base is what happens before the thread's previous operation.
	var base []int32
	previous := r.before(i, me)
	if previous >= 0 {
		base = s.Stack[previous].Clock
	}
	clock := make([]int32, len(s.Dir.Threads))
	copy(clock, base)
	var racing []int
	for j := i - 1; j >= 0; j-- {
		m := s.Stack[j]
		u := int(m.Step.Thread)
		if u == me || at(base, u) >= at(m.Clock, u) || !m.Uses.conflicts(uses) {
			continue
		}
		racing = append(racing, j)
		for k, v := range m.Clock {
			clock[k] = max(clock[k], v)
		}
	}
	clock[me] = at(base, me) + 1
	free := r.performs(i, me) && r.decisions[i].free
	for n, j := range racing {
		if d.bounded() {
			if d.reversible(r, j, i, me, previous) {
				d.precede(r, j, me)
			}
			continue
		}
		// What comes between two operations reverses with it, unless it enabled the second.
		if slices.ContainsFunc(racing[:n], func(k int) bool {
			return d.after(s.Stack[k].Clock, j) && (free || k > previous && slices.Contains(r.decisions[k].enabled, me))
		}) {
			continue
		}
		if d.reversible(r, j, i, me, previous) {
			d.reverse(r, j, i, me, clock, nil)
			if !free {
				// What comes between may disable the operation, too, as several readers do a writer's.
				d.reverse(r, j, i, me, clock, base)
			}
		}
	}
	return clock
}

func at(clock []int32, i int) int32 {
	if i < len(clock) {
		return clock[i]
	}
	return 0
}

// after reports whether what has that clock happens after decision j.
func (d *DPOR) after(clock []int32, j int) bool {
	m := d.state.Stack[j]
	u := int(m.Step.Thread)
	return at(clock, u) >= m.Clock[u]
}

// reversible reports whether the operation of thread me before decision i could be performed without
// j's, as far as the sets of enabled threads tell. previous is the thread's previous decision.
func (d *DPOR) reversible(r *recorded, j, i, me, previous int) bool {
	if r.performs(i, me) && r.decisions[j].enables(&r.decisions[i]) {
		return false
	}
	return previous >= 0 || slices.Contains(r.decisions[j].enabled, me) // or else the thread did not exist
}

// reverse makes sure that executions are explored in which the operation of thread me before decision
// i, which has that clock, comes before decision j's. If base is not nil, only what happens before base comes
// before it, too.
func (d *DPOR) reverse(r *recorded, j, i, me int, clock, base []int32) {
	s := &d.state
	n := s.Stack[j]
	// v is what follows j without depending on it, and then the operation. A thread is initial in v
	// if its first operation there does not depend on others.
	var v, initials []int
	first := func(t int, clock []int32) bool {
		return !slices.ContainsFunc(v, func(m int) bool { return int(s.Stack[m].Step.Thread) == t || d.after(clock, m) })
	}
	for k := j + 1; k < i; k++ {
		m := s.Stack[k]
		if d.after(m.Clock, j) || base != nil && !d.after(base, k) {
			continue
		}
		if t := int(m.Step.Thread); first(t, m.Clock) {
			initials = append(initials, t)
		}
		v = append(v, k)
	}
	if base != nil {
		clock = base
	}
	if first(me, clock) {
		initials = append(initials, me)
	}
	for _, t := range initials {
		if t == int(n.Step.Thread) || n.has(t) {
			return
		}
	}
	pick := -1
	for _, t := range initials {
		if !slices.Contains(n.Enabled, t) {
			continue
		}
		if pick < 0 || j > 0 && t == int(s.Stack[j-1].Step.Thread) {
			pick = t
		}
	}
	if pick < 0 {
		return // it was e that enabled what follows
	}
	// The plan performs all of v, which the paper calls a wakeup sequence (algorithm 2): so the
	// threads that are asleep at j wake before the policy decides. The last operation is left to the
	// policy if it may block.
	if r.performs(i, me) && r.decisions[i].free {
		v = append(v, i)
	}
	var rest []schedule.Step
	for _, k := range slices.DeleteFunc(v, func(k int) bool { return k == r.at(j, pick) }) {
		rest = append(rest, r.decisions[k].step)
	}
	d.add(r, j, pick, rest...)
}

// has reports whether a thread's next operation is explored at the node, or need not be.
func (n *dporNode) has(t int) bool {
	return sleeps(n.Sleep, t) || sleeps(n.Done, t) || slices.ContainsFunc(n.Todo, func(z continuation) bool { return int(z.Step.Thread) == t })
}

// add adds what a thread does at node j, and then the rest, to what is to be explored there.
func (d *DPOR) add(r *recorded, j, t int, rest ...schedule.Step) {
	if step, ok := r.pending(j, t); ok {
		n := d.state.Stack[j]
		n.Todo = append(n.Todo, continuation{step, rest})
	} else {
		d.state.miss(unknownStep)
	}
}

// blocked looks for races of the operations of threads that were not enabled at decision i, where a thread goes
// on that is asleep. The equivalent execution that was made has other races: what the sleeping thread
// does comes first there.
func (d *DPOR) blocked(r *recorded, i int) {
	for t := range r.next {
		if slices.Contains(r.decisions[i].enabled, t) || r.before(i, t) < 0 {
			continue
		}
		if at := r.at(i, t); at >= 0 {
			d.race(r, i, t, r.decisions[at].uses)
		} else if uses, ok := r.uses[t]; ok {
			d.race(r, i, t, uses)
		}
	}
}

// ends looks for races of the operations that the threads that are left when an execution ends
// would have performed next. The execution's last operation comes before those of threads that were
// enabled, and its end is dependent on everything.
func (d *DPOR) ends(r *recorded) {
	last := len(r.decisions) - 1
	if last < 0 {
		return
	}
	s := &d.state
	for _, t := range slices.Sorted(maps.Keys(r.uses)) {
		blocked := !slices.Contains(s.Stack[last].Enabled, t)
		if t == int(s.Stack[last].Step.Thread) {
			blocked = r.deadlocked // or else its last operation has ended the execution
		}
		if blocked {
			d.race(r, last+1, t, r.uses[t])
		}
	}
	n := s.Stack[last]
	for _, t := range n.Enabled {
		if d.bounded() {
			if t != int(n.Step.Thread) && r.kills(t) {
				d.precede(r, last, t)
			}
			continue
		}
		if t != int(n.Step.Thread) && !n.has(t) && r.kills(t) {
			n.Uses = everything
			d.add(r, last, t)
		}
	}
}

// backtrack pops what has been explored and leaves the next branch on top of the stack.
func (d *DPOR) backtrack() {
	s := &d.state
	for len(s.Stack) > 0 {
		n := s.Stack[len(s.Stack)-1]
		if !n.Blocked && !slices.ContainsFunc(n.Todo, func(z continuation) bool { return z.Step.Thread == n.Step.Thread }) {
			n.Done = append(n.Done, sleeper{int(n.Step.Thread), n.Uses})
			n.Tried = false
		}
		if len(n.Todo) > 0 {
			n.Step, n.Rest, n.Todo = n.Todo[0].Step, n.Todo[0].Rest, n.Todo[1:]
			n.Uses, n.Clock, n.Blocked = nil, nil, false
			return
		}
		s.Stack = s.Stack[:len(s.Stack)-1]
	}
	s.Done = true
}

// choices returns how many decisions of the current execution were among several threads.
func (d *DPOR) choices() (n int) {
	for _, node := range d.state.Stack {
		if len(node.Enabled) > 1 {
			n++
		}
	}
	return n
}
