package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// ExplainOptions bound a search for the critical order.
type ExplainOptions struct {
	// Executions is how many are made at most; 0 for explainRuns.
	Executions   int
	Time         time.Duration // after which no further one begins; 0 for any
	ExpectStatus int32
}

const (
	explainRuns = 200
	// explainSites is how many memory instructions become scheduling points, those nearest to the failure.
	explainSites = 64
	// explainSame is how many pairs of the same two instructions are turned.
	explainSame = 4
	// explainDelays is how many instructions a thread that failed is delayed before.
	explainDelays = 40
	// explainNear is how many before anything else is tried.
	explainNear = 4
	// explainOrders is how many orderings are listed.
	explainOrders = 3
)

// Critical is the critical order of a failing execution.
type Critical struct {
	// Base is the execution that Orders speak of: the recorded one, with all accesses to memory.
	Base    *trace.Trace
	Orders  []report.Order
	Passing *trace.Trace // the execution that turns the first of Orders and does not fail; nil for none
	// Executions were made. Complete is false if their limit ended the search, or another bound left orderings out.
	Executions int
	Complete   bool
}

// Explain looks for the orderings of two events of different threads on which a failure depends. It repeats
// the execution with the accesses to memory that two threads share as scheduling points, and then turns
// dependent pairs of events: the execution is followed up to the earlier one, the later one comes first,
// and the rest of the schedule is followed as closely as possible. An ordering is critical if the pair was
// turned in at least one execution and none of those that turned it failed.
//
// Turning one pair can turn others. So of two critical orderings, only that is listed that turns a proper
// part of what the other turns.
func Explain(ctx context.Context, t target.Target, recorded *trace.Trace, opts ExplainOptions) (*Critical, error) {
	if !recorded.Ending.Kind.Failed() {
		return nil, fmt.Errorf("the recorded execution does not fail: there is nothing to explain")
	}
	if recorded.Ending.Kind == trace.Race {
		return nil, fmt.Errorf("the recorded failure is a data race, which fails in any order of its two accesses: heddle races shows them, and heddle find --races=ignore finds what they lead to")
	}
	x := &explainer{target: t, limit: opts.Executions, critical: &Critical{Complete: true}}
	if x.limit == 0 {
		x.limit = explainRuns
	}
	if opts.Time > 0 {
		x.deadline = time.Now().Add(opts.Time)
	}
	v := verdict{expect: opts.ExpectStatus, outputs: outputsOf(&recorded.Header)}
	if recorded.Ending.Kind.Endless() {
		v.like, v.header = &recorded.Ending, &recorded.Header
		v.where = func(trace.Site, []trace.Site) string { return "" } // only the recording's message is shown
	}
	x.judged, x.unjudged = judged(t, v), judged(t, verdict{expect: v.expect, outputs: v.outputs})
	if err := x.repeat(ctx, recorded); err != nil {
		return nil, err
	}
	end := &x.critical.Base.Ending
	failed := map[trace.ThreadID]bool{end.Thread: true}
	for _, w := range end.Waiters {
		failed[w.Thread] = true
	}
	if !x.stuck() { // the accesses nearest to the failure come first
		if err := x.delay(ctx, func(ev *trace.Event) bool { return ev.Thread == end.Thread && ops.Does(ev.Op) != ops.Create }, 1, explainNear); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(x.critical.Orders, func(o report.Order) bool { return o.Controlled }) {
			x.critical.Orders, x.critical.Passing = nil, nil // it is found again if nothing else is
		}
	}
	if err := x.turnAll(ctx); err != nil {
		return nil, err
	}
	x.finish()
	for nth := 1; nth <= explainSame; nth++ {
		for _, mine := range []bool{true, false} { // a thread that failed or waits, then any other
			if len(x.critical.Orders) == 0 {
				of := func(ev *trace.Event) bool { return failed[ev.Thread] == mine && ops.Does(ev.Op) != ops.Create }
				if err := x.delay(ctx, of, nth, explainDelays); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(x.critical.Orders) == 0 { // with a thread created so late, it hardly runs at the same time as others
		if err := x.delay(ctx, func(ev *trace.Event) bool { return ops.Does(ev.Op) == ops.Create }, 1, explainDelays); err != nil {
			return nil, err
		}
	}
	return x.critical, nil
}

type explainer struct {
	target   target.Target
	judged   schedule.Executor
	unjudged schedule.Executor // one that does not recognise hangs, and so need not cut executions short
	limit    int
	deadline time.Time // zero for none
	plan     schedule.Plan
	goal     trace.Ending // of the recorded execution
	pairs    []pairOf
	critical *Critical
}

// pairOf is a pair of dependent events of the base, in their order, and what turning it showed.
type pairOf struct {
	first, second int
	waiter        *trace.Waiter // not nil: second is its last event, and it waits for an operation behind that
	turned        []int         // the fewest pairs that an execution turned with this one, itself included
	runs, failed  int
	controlled    bool // the execution that leaves the access in its place and moves the rest failed
	passing       *trace.Trace
}

// same reports whether an execution failed as the recorded one.
func (x *explainer) same(e trace.Ending) bool {
	return sameFailure(x.goal, e, x.target.Modules())
}

// stuck reports whether the execution fails because threads wait forever.
func (x *explainer) stuck() bool {
	k := x.critical.Base.Ending.Kind
	return k == trace.Deadlock || k == trace.Hang || k == trace.Livelock || k == trace.Leak
}

// over reports whether the limits leave no room for n more executions; then the search is not complete.
func (x *explainer) over(n int) bool {
	if x.critical.Executions+n <= x.limit && (x.deadline.IsZero() || time.Now().Before(x.deadline)) {
		return false
	}
	x.critical.Complete = false
	return true
}

// run executes a plan and counts it.
func (x *explainer) run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	x.critical.Executions++
	o, err := x.judged(ctx, p)
	if err != nil || !x.goal.Kind.Endless() || o.Ending.Kind != trace.Unfinished || x.over(1) {
		return o, err
	}
	// Not a hang so far. What matters is whether it ends.
	x.critical.Executions++
	if longer, err := x.unjudged(ctx, p); err != nil || longer.Ending.Kind == trace.Clean {
		return longer, err
	}
	return o, nil
}

// repeat executes the recorded schedule with all accesses, and again with those that threads share as
// scheduling points.
func (x *explainer) repeat(ctx context.Context, recorded *trace.Trace) error {
	plan, err := ReplayPlan(x.target, recorded)
	if err != nil {
		return err
	}
	x.goal = recorded.Ending
	plan.Accesses, plan.Values, plan.MaxAccesses = true, true, schedule.AllAccesses
	o, err := traced(ctx, x.target, x.run, plan)
	if err != nil {
		return err
	}
	if !x.same(o.Ending) {
		return fmt.Errorf("the execution could not be repeated: it ended with %v", o.Ending.Kind)
	}
	base := o.Trace
	order := make([]int, len(base.Events))
	for i := range order {
		order[i] = i
	}
	base.Header.Points = recorded.Header.Points
	follow := reorderPlanAt(base, order, sharedSites(base))
	follow.Seed, follow.ExpectStatus = plan.Seed, plan.ExpectStatus
	follow.Mode = schedule.Tolerant
	if o, err = x.run(ctx, follow); err != nil {
		return err
	}
	if o.Trace != nil && x.same(o.Ending) {
		base = o.Trace
		base.Header.Points = follow.Points
	}
	base.Header.Strategy = recorded.Header.Strategy
	x.plan, x.critical.Base = follow, base
	x.pairs = waitingPairs(base)
	pairs, all := dependentPairs(base)
	x.critical.Complete = all
	for _, p := range append(interruptions(base), pairs...) {
		x.pairs = append(x.pairs, pairOf{first: p[0], second: p[1]})
	}
	return nil
}

// sharedSites returns the instructions of accesses to memory that another thread accesses, too, one of the two
// writing: the last before the failure first, at most explainSites.
func sharedSites(t *trace.Trace) []trace.Site {
	var sites []trace.Site
	pairs := conflicts(t, func(ev *trace.Event) bool { return ev.Op.IsAccess() || ev.Op == trace.OpFree })
	for _, p := range slices.Backward(pairs) {
		for _, e := range p {
			if s := t.Events[e].Site; s != 0 && len(sites) < explainSites && !slices.Contains(sites, s) {
				sites = append(sites, s)
			}
		}
	}
	return sites
}

// dependentPairs returns the pairs to turn, the nearest to the failure first, and whether these are all.
func dependentPairs(t *trace.Trace) (out [][2]int, complete bool) {
	all := conflicts(t, func(ev *trace.Event) bool {
		return ev.Flags&trace.FlagNoDecision == 0 && ops.Of(ev.Op).Of != ops.Thread && ops.Of(ev.Op).Of != ops.Execution
	})
	type places struct{ a, b trace.Site }
	seen := map[places]int{}
	all = append(all, lifted(t, all)...)
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(a[1], b[1]) })
	for _, p := range slices.Backward(all) {
		k := places{t.Events[p[0]].Site, t.Events[p[1]].Site}
		if seen[k]++; seen[k] <= explainSame {
			out = append(out, p)
		}
	}
	return out, len(out) == len(all)
}

// lifted returns, for the pairs of accesses that are in critical sections of one lock, the acquisitions: only the sections
// can be turned as a whole. Those that are among the pairs already are left out.
func lifted(t *trace.Trace, pairs [][2]int) (out [][2]int) {
	known := map[[2]int]bool{}
	wanted := map[int][]held{}
	for _, p := range pairs {
		known[p] = true
		wanted[p[0]], wanted[p[1]] = nil, nil
	}
	now := map[trace.ThreadID][]held{}
	for i := range t.Events {
		ev := &t.Events[i]
		if lock, ok := released(ev); ok {
			now[ev.Thread] = slices.DeleteFunc(now[ev.Thread], func(h held) bool { return h.lock == lock })
		}
		if lock := ops.Acquires(ev); lock != 0 && ops.Of(ev.Op).Done(ev) && ev.Flags&trace.FlagNoDecision == 0 {
			now[ev.Thread] = append(now[ev.Thread], held{lock, i})
		}
		if _, ok := wanted[i]; ok && ev.Op.IsAccess() {
			wanted[i] = slices.Clone(now[ev.Thread])
		}
	}
	for _, p := range pairs {
		for _, a := range wanted[p[0]] {
			for _, b := range wanted[p[1]] {
				if q := [2]int{a.at, b.at}; a.lock == b.lock && a.at < b.at && !known[q] {
					known[q] = true
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// held is a lock that a thread has, and the event by which it acquired it.
type held struct {
	lock trace.Object
	at   int
}

// interruptions returns pairs for accesses p and c of one thread to one object, between which other threads access it
// more than once: p and the last of the others, and the first of them and c, the nearest to the failure first. Turning two
// neighbours leaves an access in between.
func interruptions(t *trace.Trace) (out [][2]int) {
	type own struct{ thread, object uint64 }
	last := map[own]int{}
	words := map[uint64][]int{} // the accesses to each word of memory
	for i := range t.Events {
		ev := &t.Events[i]
		if !ev.Op.IsAccess() || ev.Flags&trace.FlagNoDecision != 0 || ev.Object.Region() == trace.RegionStack {
			continue
		}
		first, end := uint64(ev.Object)/8, (uint64(ev.Object)+uint64(min(max(ev.Size, 1), interruptedMost))-1)/8+1
		k := own{uint64(ev.Thread), uint64(ev.Object)}
		if p, ok := last[k]; ok {
			from, to := i, p // the first and the last of the others
			for word := first; word < end; word++ {
				for _, n := range slices.Backward(words[word]) {
					if n <= p {
						break
					}
					if r := &t.Events[n]; r.Thread != ev.Thread && overlap(r, ev) && !(readsOnly(r) && readsOnly(ev) && readsOnly(&t.Events[p])) {
						from, to = min(from, n), max(to, n)
					}
				}
			}
			if from < to {
				out = append(out, [2]int{from, i}, [2]int{p, to}) // reversed below
			}
		}
		last[k] = i
		for word := first; word < end; word++ {
			words[word] = append(words[word], i)
		}
	}
	slices.Reverse(out)
	type places struct{ a, b trace.Site }
	seen := map[places]int{}
	return slices.DeleteFunc(out, func(p [2]int) bool {
		k := places{t.Events[p[0]].Site, t.Events[p[1]].Site}
		seen[k]++
		return seen[k] > explainSame
	})
}

// interruptedMost is how many bytes of an access interruptions looks at.
const interruptedMost = 4096

func readsOnly(ev *trace.Event) bool {
	does := ops.Does(ev.Op)
	return does == ops.Read || does == ops.AtomicRead
}

// conflicts returns the pairs of events of different threads that depend on each other and have no event in
// between that depends on both, in the order of the second.
func conflicts(t *trace.Trace, counts func(*trace.Event) bool) (out [][2]int) {
	type last struct {
		write int // the last event that changed the object, -1 for none
		reads map[trace.ThreadID]int
	}
	objects := map[uint64]*last{}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Object == 0 || !counts(ev) {
			continue
		}
		changes, object, does := true, ev.Object, ops.Does(ev.Op)
		if lock := ops.Acquires(ev); lock != 0 && lock != object { // a wait on a condition that returns
			object, does = lock, ops.Acquire
		}
		switch does {
		case ops.None, ops.Announce, ops.Resume, ops.Leave, ops.Depart, ops.Release, ops.ReleaseShared, ops.Allocate:
			continue // an acquisition stands for its critical section
		case ops.Read, ops.AtomicRead, ops.Inspect:
			changes = false
		}
		met := map[int]bool{}
		memory := ops.Of(ev.Op).Of == ops.Memory || ops.Of(ev.Op).Of == ops.Block
		size := uint64(1)
		if memory {
			size = min(max(uint64(ev.Size), 1), 256)
		}
		for b := uint64(0); b < size; b += 8 {
			at := uint64(object) + b
			if memory {
				at &^= 7
			}
			l := objects[at]
			if l == nil {
				l = &last{write: -1, reads: map[trace.ThreadID]int{}}
				objects[at] = l
			}
			if l.write >= 0 && t.Events[l.write].Thread != ev.Thread {
				met[l.write] = true
			}
			if changes {
				for th, r := range l.reads {
					if th != ev.Thread {
						met[r] = true
					}
				}
				l.write = i
				clear(l.reads)
			} else {
				l.reads[ev.Thread] = i
			}
		}
		for _, first := range slices.Sorted(maps.Keys(met)) {
			if !memory || overlap(&t.Events[first], ev) {
				out = append(out, [2]int{first, i})
			}
		}
	}
	return out
}

// waitingPairs returns, for each thread that waits for a lock when the execution ends, the acquisition by the
// thread that holds it.
func waitingPairs(t *trace.Trace) (out []pairOf) {
	for i := range t.Ending.Waiters {
		w := &t.Ending.Waiters[i]
		if does := ops.Does(w.Op); w.Holder < 0 || does != ops.Acquire && does != ops.AcquireShared {
			continue
		}
		first, second := -1, -1
		for e := range t.Events {
			ev := &t.Events[e]
			if does := ops.Does(ev.Op); ev.Thread == w.Holder && ev.Object == w.Object && (does == ops.Acquire || does == ops.AcquireShared) && ev.Flags&trace.FlagNoDecision == 0 {
				first = e
			}
			if ev.Thread == w.Thread {
				second = e
			}
		}
		if first >= 0 && second >= 0 && w.Site != 0 && t.Events[first].Site != 0 {
			out = append(out, pairOf{first: first, second: second, waiter: w})
		}
	}
	return out
}

// turnWaiting lets the holder of a lock wait before it acquires it, until the waiting thread has acquired it.
func (x *explainer) turnWaiting(ctx context.Context, p *pairOf) error {
	base := x.critical.Base
	first := &base.Events[p.first]
	rest := slices.DeleteFunc(slices.Clone(base.Events[p.first:]), func(ev trace.Event) bool { return ev.Thread == first.Thread })
	plan := x.plan
	plan.Script, plan.Threads = schedule.Steps(slices.Concat(base.Events[:p.first], rest)), base.Threads
	arrival := 0
	for i := range base.Events[:p.first+1] {
		if ev := &base.Events[i]; ev.Thread == first.Thread && ev.Site == first.Site {
			arrival++
		}
	}
	plan.Holds = []schedule.Hold{{Site: first.Site, Thread: first.Thread, Arrival: arrival, Until: p.waiter.Site, When: schedule.Done}}
	o, err := x.run(ctx, plan)
	if err != nil || o.Trace == nil || len(o.Holds) != 1 || o.Holds[0].Done == 0 {
		return err
	}
	p.runs++
	if o.Ending.Kind != trace.Clean {
		p.failed++ // or is not known to pass
		return nil
	}
	p.passing = o.Trace
	return nil
}

// turnAll turns the pairs one after the other.
func (x *explainer) turnAll(ctx context.Context) error {
	base := x.critical.Base
	follow := func(script []schedule.Step) (schedule.Outcome, error) {
		p := x.plan
		p.Script, p.Threads = script, base.Threads
		return x.run(ctx, p)
	}
	instances := make([]instance, len(x.pairs))
	for k := range x.pairs {
		instances[k] = instance{first: x.pairs[k].first, second: x.pairs[k].second}
	}
	for k := range x.pairs {
		p := &x.pairs[k]
		if p.waiter != nil {
			if x.over(1) {
				return nil
			}
			if err := x.turnWaiting(ctx, p); err != nil {
				return err
			}
			p.turned = []int{k}
			continue
		}
		for _, turn := range turns(base, p.first, p.second) {
			if x.over(1) {
				return nil
			}
			o, err := follow(turn.turned)
			if err != nil {
				return err
			}
			// Where the earlier event is missing, something else is different, too.
			if o.Trace == nil || !isTurned(base, o.Trace, &instances[k]) || o.Ending.Kind == trace.Clean && occurrence(base, p.first, o.Trace) < 0 {
				continue
			}
			p.runs++
			if o.Ending.Kind != trace.Clean {
				p.failed++ // or is not known to pass
				break
			}
			if p.passing == nil {
				p.passing = o.Trace
			}
			if !p.controlled && !x.over(1) {
				control, err := follow(turn.control)
				if err != nil {
					return err
				}
				p.controlled = x.same(control.Ending) && control.Trace != nil && !isTurned(base, control.Trace, &instances[k])
			}
			var others []int
			for n := range instances {
				if n == k || x.pairs[n].waiter == nil && occurrence(base, instances[n].first, o.Trace) >= 0 && isTurned(base, o.Trace, &instances[n]) {
					others = append(others, n)
				}
			}
			if p.turned == nil || len(others) < len(p.turned) {
				p.turned = others
			}
		}
	}
	return nil
}

// delay looks for an event that comes before another that never happens, because the execution fails first, or that
// happens too late. It follows the execution until before one of the events, and lets all other threads do
// what they can before it continues. If then the execution does not fail, the thread was too early. Of each instruction
// of a thread, only the nth execution from the end on is delayed. A wait for a counter cannot be too early. The last such event counts, and of the events of others
// meanwhile the last that depends on it.
func (x *explainer) delay(ctx context.Context, of func(*trace.Event) bool, nth, most int) error {
	base := x.critical.Base
	order := make([]int, len(base.Events))
	for i := range order {
		order[i] = i
	}
	type place struct {
		thread trace.ThreadID
		site   trace.Site
	}
	seen := map[place]int{}
	delays := 0
	for e := len(base.Events) - 1; e > 0; e-- {
		ev := &base.Events[e]
		does := ops.Does(ev.Op)
		if !of(ev) || ev.Site == 0 || ev.Object.Region() == trace.RegionStack && ops.Of(ev.Op).Of == ops.Memory ||
			ev.Op.IsAccess() && ev.Object == 0 || ev.Op == trace.OpAbort || ev.Op == trace.OpSignal || does == ops.None || does == ops.Allocate || does == ops.Wait && ops.Of(ev.Op).Of == ops.WaitGroup || auxiliary(ev.Op) || ev.Flags&trace.FlagNoDecision != 0 && !ev.Op.IsAccess() {
			continue
		}
		at := place{ev.Thread, ev.Site}
		if seen[at]++; seen[at] != nth {
			continue
		}
		if delays++; delays > most {
			x.critical.Complete = x.critical.Complete && most < explainDelays
			return nil
		}
		if x.over(1) {
			return nil
		}
		plan := reorderPlanAt(base, order[:e], []trace.Site{ev.Site})
		plan.Seed, plan.ExpectStatus, plan.Mode = x.plan.Seed, x.plan.ExpectStatus, schedule.Tolerant
		arrival := 0
		for i := range base.Events[:e+1] {
			if other := &base.Events[i]; other.Thread == ev.Thread && other.Site == ev.Site {
				arrival++
			}
		}
		plan.Holds = []schedule.Hold{{Site: ev.Site, Thread: ev.Thread, Arrival: arrival}}
		o, err := x.run(ctx, plan)
		if err != nil {
			return err
		}
		if o.Trace == nil || o.Ending.Kind != trace.Clean || len(o.Holds) != 1 || o.Holds[0].Held == 0 {
			continue
		}
		own := occurrence(base, e, o.Trace)
		other := own - 1
		for other >= e {
			if ev2 := &o.Trace.Events[other]; ev2.Thread != ev.Thread && !auxiliary(ev2.Op) && depends(ev, ev2) {
				break
			}
			other--
		}
		if other >= e {
			if x.over(1) {
				return nil
			}
			found, err := x.tooEarly(ctx, e, o.Trace, own, acquisition(o.Trace, other, e))
			if err != nil || found {
				return err
			}
		}
		if ev.Op.IsAccess() {
			continue // it depends on nothing that the delay let happen: what follows it does
		}
		if found, err := x.narrow(ctx, e, o.Trace, own); err != nil || found {
			return err
		}
	}
	return nil
}

// auxiliary reports whether an operation never stands for an ordering itself: where a thread begins and ends, and what Go's
// race detector is told of an operation that has an event of its own.
func auxiliary(op trace.Op) bool {
	s := ops.Of(op)
	return s.Of == ops.SyncVar || s.Does == ops.Start || s.Does == ops.Finish
}

// acquisition returns, for an event that releases a lock, the event by which its thread acquired it, if that is not before
// event from. For others it returns the event itself.
func acquisition(t *trace.Trace, release, from int) int {
	ev := &t.Events[release]
	if does := ops.Does(ev.Op); does != ops.Release && does != ops.ReleaseShared {
		return release
	}
	for i := release - 1; i >= from; i-- {
		other := &t.Events[i]
		does := ops.Does(other.Op)
		if other.Thread == ev.Thread && other.Object == ev.Object && (does == ops.Acquire || does == ops.AcquireShared) {
			return i
		}
	}
	return release
}

// delayed executes the first events of an execution that delayed event e of the base, which is event at there, and
// then e.
func (x *explainer) delayed(ctx context.Context, in *trace.Trace, first, at int) (schedule.Outcome, *schedule.Plan, error) {
	order := make([]int, first, first+1)
	for i := range order {
		order[i] = i
	}
	sites := []trace.Site{in.Events[at].Site}
	if first > 0 {
		sites = append(sites, in.Events[first-1].Site)
	}
	if first < len(in.Events) {
		sites = append(sites, in.Events[first].Site)
	}
	plan := reorderPlanAt(in, append(order, at), slices.DeleteFunc(sites, func(s trace.Site) bool { return s == 0 }))
	plan.Seed, plan.ExpectStatus, plan.Mode = x.plan.Seed, x.plan.ExpectStatus, schedule.Tolerant
	o, err := x.run(ctx, plan)
	return o, &plan, err
}

// tooEarly executes what happened in an execution that delayed event e of the base up to event other of another
// thread, and then e, which is event at there: it must not fail. If the same without other fails, other alone decides.
func (x *explainer) tooEarly(ctx context.Context, e int, in *trace.Trace, at, other int) (bool, error) {
	if x.over(2) {
		return false, nil
	}
	o, plan, err := x.delayed(ctx, in, other+1, at)
	if err != nil || o.Trace == nil || o.Ending.Kind != trace.Clean {
		return false, err
	}
	base := x.critical.Base
	second := occurrence(in, other, o.Trace)
	if own := occurrence(base, e, o.Trace); second < 0 || own >= 0 && own < second {
		return false, nil
	}
	control, _, err := x.delayed(ctx, in, other, at)
	if err != nil {
		return false, err
	}
	o.Trace.Header.Strategy, o.Trace.Header.Points, o.Trace.Header.ExpectStatus = base.Header.Strategy, plan.Points, plan.ExpectStatus
	x.critical.Passing = o.Trace
	found := report.Order{First: e, Second: -1, InPassing: second, Controlled: x.same(control.Ending), Executions: 1}
	if later := occurrence(in, other, base); later > e {
		found.Second, found.InPassing = later, 0
	}
	x.critical.Orders = []report.Order{found}
	return true, nil
}

// narrow looks for what event e, which is event at of an execution that delayed it and did not fail, came too early for, if no
// object tells: the first event of others by which the failure is gone, and without which it comes again.
func (x *explainer) narrow(ctx context.Context, e int, in *trace.Trace, at int) (bool, error) {
	fails, passes := e, at // with so many events before it
	for passes-fails > 1 {
		if x.over(3) {
			return false, nil
		}
		mid := (fails + passes) / 2
		o, _, err := x.delayed(ctx, in, mid, at)
		switch {
		case err != nil:
			return false, err
		case o.Trace != nil && o.Ending.Kind == trace.Clean:
			passes = mid
		case x.same(o.Ending):
			fails = mid
		default:
			return false, nil
		}
	}
	if passes <= e || in.Events[passes-1].Thread == x.critical.Base.Events[e].Thread {
		return false, nil
	}
	return x.tooEarly(ctx, e, in, at, passes-1)
}

// depends reports whether two events concern the same object and one of them changes it. Counts of a WaitGroup add up in
// any order.
func depends(a, b *trace.Event) bool {
	one, two := ops.Of(a.Op), ops.Of(b.Op)
	reads := func(s *ops.Spec) bool {
		return s.Does == ops.Read || s.Does == ops.AtomicRead || s.Does == ops.Inspect || s.Does == ops.None
	}
	if reads(one) && reads(two) || two.Does == ops.Allocate || one.Does == ops.Count && two.Does == ops.Count {
		return false
	}
	if one.Of == ops.Memory && (two.Of == ops.Memory || two.Of == ops.Block) || two.Of == ops.Memory && one.Of == ops.Block {
		return overlap(a, b)
	}
	return a.Object == b.Object
}

// finish selects the critical orderings: those that the failure depends on alone, if there are some.
func (x *explainer) finish() {
	var critical []*pairOf
	for k := range x.pairs {
		if p := &x.pairs[k]; p.runs > 0 && p.failed == 0 {
			critical = append(critical, p)
		}
	}
	if slices.ContainsFunc(critical, func(p *pairOf) bool { return p.controlled }) {
		critical = slices.DeleteFunc(critical, func(p *pairOf) bool { return !p.controlled && p.waiter == nil })
	}
	smallest := slices.DeleteFunc(slices.Clone(critical), func(p *pairOf) bool {
		return slices.ContainsFunc(critical, func(q *pairOf) bool {
			return q != p && len(q.turned) < len(p.turned) && !slices.ContainsFunc(q.turned, func(n int) bool { return !slices.Contains(p.turned, n) })
		})
	})
	stuck := x.stuck()
	slices.SortStableFunc(smallest, func(p, q *pairOf) int {
		if !stuck && (p.waiter != nil) != (q.waiter != nil) { // what somebody still waits for has not failed
			if p.waiter != nil {
				return 1
			}
			return -1
		}
		return len(p.turned) - len(q.turned)
	})
	type places struct{ a, b trace.Site }
	listed := map[places]bool{} // the same two instructions, later in the execution, add nothing
	for _, p := range smallest {
		k := places{x.critical.Base.Events[p.first].Site, x.critical.Base.Events[p.second].Site}
		if listed[k] || len(x.critical.Orders) >= explainOrders || slices.ContainsFunc(x.critical.Orders, func(o report.Order) bool { return o.First == p.first && o.Second == p.second }) {
			continue
		}
		listed[k] = true
		x.critical.Orders = append(x.critical.Orders, report.Order{First: p.first, Second: p.second, Waiting: p.waiter != nil, Controlled: p.controlled, Executions: p.runs})
		if x.critical.Passing == nil {
			x.critical.Passing = p.passing
			p.passing.Header.Strategy, p.passing.Header.Points = x.critical.Base.Header.Strategy, x.plan.Points
			p.passing.Header.ExpectStatus = x.plan.ExpectStatus
		}
	}
}
