package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
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
	// Passes says that another schedule is known to pass, as in the search that found the failure.
	Passes bool
	// Names tells the program's own code from that of libraries; if nil, all is its own.
	Names *report.Running
}

const (
	explainRuns = 600
	// explainSame is how many executions of one instruction are delayed, each in its turn.
	explainSame = 4
	// explainDelays is how many instructions a thread that failed is delayed before.
	explainDelays = 40
	// explainNear is how many before anything else is tried.
	explainNear = 4
	// explainOthers is how many events of others are tried as what a thread came too early for.
	explainOthers = 6
	// explainOrders is how many orderings are listed.
	explainOrders = 3
	// explainLong is how many events make an execution long: then the pairs that tell most come first, and are tried after so many.
	explainLong, explainPart = 20_000, 12
	// explainCompared is how many executions that do not fail are compared to tell what does not depend on an ordering.
	explainCompared = 8
	// explainObjects is how many of the last objects of a failing thread tell most.
	explainObjects = 16
)

// Critical is the critical order of a failing execution.
type Critical struct {
	// Base is the execution that Orders speak of: the recorded one, with all accesses to memory.
	Base    *trace.Trace
	Orders  []report.Order
	Passing *trace.Trace // the execution that turns the first of Orders and does not fail; nil for none
	// Met is the first execution that did not fail; nil for none.
	Met *trace.Trace
	// Executions were made. Complete is false if their limit ended the search, or another bound left orderings out.
	Executions int
	Complete   bool
	// Cut says that the limits ended the work: with more of them, another ordering might be found.
	Cut bool
	// Reason says why Orders is empty, or its first says little. Passed of the executions did not fail.
	Reason report.Unexplained
	Passed int
	// Interrupted is what a signal handler does to its own thread if the failure depends on it; nil otherwise.
	Interrupted *report.Interrupted

	others []*trace.Trace // that do not fail, with other pairs turned
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
	if unscheduled(recorded) && !opts.Passes {
		return &Critical{Base: recorded, Complete: true, Reason: report.OneThread}, nil
	}
	defer target.AsRecorded(t, &recorded.Header)()
	v := verdict{expect: opts.ExpectStatus, outputs: outputsOf(&recorded.Header)}
	if recorded.Ending.Kind.Endless() {
		v.like, v.header = &recorded.Ending, &recorded.Header
		v.where = func(trace.Site, []trace.Site) string { return "" } // only the recording's message is shown
	}
	setting := settingOf(t, recorded, v)
	if setting.Delays = schedule.ShortDelays; strategy.DelaysOf(recorded) == schedule.AnyDelays {
		setting.Delays = schedule.AnyDelays
	}
	setting.Executions, setting.Time = cmp.Or(opts.Executions, explainRuns), opts.Time
	if opts.Names != nil {
		setting.Origin = opts.Names.Origin
	}
	x := &explainer{names: opts.Names, passes: opts.Passes}
	setting.Run = x.meeting(setting.Run)
	x.Experiment = experiment.New(setting)
	if err := x.repeat(ctx, t, recorded); err != nil {
		return nil, err
	}
	if err := x.explain(ctx); err != nil {
		return nil, err
	}
	if err := x.conclude(ctx); err != nil {
		return nil, err
	}
	return &x.critical, nil
}

// meeting is an executor that keeps the first execution which passes.
func (x *explainer) meeting(run schedule.Executor) schedule.Executor {
	return func(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
		o, err := run(ctx, p)
		if err == nil && x.critical.Met == nil && o.Trace != nil && o.Ending.Kind == trace.Clean {
			x.critical.Met = o.Trace
		}
		return o, err
	}
}

// explain looks for critical orders until one is confirmed: first among what the program's own code does, then among the rest. Where turning
// one of the program's own mostly helps, what libraries do is not asked.
func (x *explainer) explain(ctx context.Context) error {
	for origin := report.OwnEvent; origin <= report.LibraryEvent && len(x.confirmed) == 0; origin++ {
		if err := x.explainBy(ctx, origin); err != nil {
			return err
		}
		if origin == report.OwnEvent {
			if err := unlessLimit(x.expiries(ctx)); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(x.doubtful, func(c *suspect) bool { return 2*c.Failed < c.Executions }) {
			return nil
		}
	}
	if err := unlessLimit(x.settleLoose(ctx)); err != nil {
		return err
	}
	if len(x.confirmed) == 0 {
		if err := unlessLimit(x.turnTogether(ctx)); err != nil {
			return err
		}
	}
	if len(x.confirmed) == 0 { // with a thread created so late, it hardly runs at the same time as others
		if err := x.delay(ctx, func(e int) bool { return ops.Does(x.Base.Events[e].Op) == ops.Create }, 1, explainDelays, 0, x.settle); err != nil {
			return err
		}
	}
	return unlessLimit(x.settleLoose(ctx))
}

// settleLoose tries orderings with which something else had to move that suffices, until one is confirmed.
func (x *explainer) settleLoose(ctx context.Context) error {
	for n := 0; len(x.loose) > 0 && len(x.confirmed) == 0 && n < explainOrders; n++ {
		c := x.loose[0]
		x.loose = x.loose[1:]
		if _, err := x.settle(ctx, c); err != nil {
			return err
		}
	}
	x.loose = nil
	return nil
}

// explainBy looks for critical orders of events of an origin.
func (x *explainer) explainBy(ctx context.Context, origin report.Origin) error {
	end, fails := &x.Base.Ending, failedAt(x.Base)
	failed := map[trace.ThreadID]bool{end.Thread: true}
	for _, w := range end.Waiters {
		failed[w.Thread] = true
	}
	by := func(threads func(trace.ThreadID) bool) func(e int) bool {
		return func(e int) bool {
			ev := &x.Base.Events[e]
			return threads(ev.Thread) && ops.Does(ev.Op) != ops.Create && (e < fails || ev.Thread != end.Thread) && x.Origin(x.Base, e) == origin
		}
	}
	var early []*suspect
	if !x.stuck() { // the accesses nearest to the failure come first
		first := func(_ context.Context, c *suspect) (bool, error) {
			if c.Controlled { // otherwise it is found again if nothing else is
				early = append(early, c)
			}
			return true, nil
		}
		if err := x.delay(ctx, by(func(th trace.ThreadID) bool { return th == end.Thread }), 1, explainNear, 0, first); err != nil {
			return err
		}
	}
	nth := 1
	// delays delays the nth event of each instruction of a thread that failed or waits, unless one of another thread is nearer to the failure.
	delays := func() error {
		for _, mine := range []bool{true, false} {
			found := x.confirmed
			after := 0
			if len(found) > 0 {
				after = found[0].First
			}
			x.confirmed = nil
			if err := x.delay(ctx, by(func(th trace.ThreadID) bool { return failed[th] == mine }), nth, explainDelays, after, x.settle); err != nil {
				return err
			}
			if len(x.confirmed) == 0 {
				x.confirmed = found
			}
		}
		nth++
		return nil
	}
	order := x.slice(origin)
	part := len(order)
	if x.long() {
		part = explainPart
	}
	for {
		left, err := x.turnSome(ctx, origin, order, part, early)
		if err != nil {
			return err
		}
		if x.omitted = x.omitted || len(left) > 0 && len(x.confirmed) > 0; len(left) == 0 || len(x.confirmed) > 0 {
			break
		}
		if x.long() && nth == 1 {
			if err := delays(); err != nil || len(x.confirmed) > 0 {
				x.omitted = true
				return err
			}
		}
		order, part, early = left, 2*part, nil
	}
	for nth <= explainSame && len(x.confirmed) == 0 {
		if err := delays(); err != nil {
			return err
		}
	}
	return nil
}

// unlessLimit returns err, or nil if an experiment ended because of its limits: what it had found by then counts.
func unlessLimit(err error) error {
	if errors.Is(err, experiment.ErrLimit) {
		return nil
	}
	return err
}

type explainer struct {
	*experiment.Experiment
	pairs    []pairOf
	critical Critical
	names    *report.Running // may be nil
	omitted  bool            // a bound other than the experiment's left orderings out
	passes   bool            // another schedule does

	users     map[trace.Object]trace.ThreadID // by word of memory, the thread that accesses it in the base, -1 for several; nil until needed
	nearby    []*experiment.Result            // of near, nil until needed
	confirmed []*suspect                      // the most telling first
	doubtful  []*suspect                      // with some of the two turned, executions fail all the same
	refuted   []*suspect                      // with all of them
	unsettled []*suspect                      // the limits ended the work before they were tried in other schedules
	loose     []*suspect                      // what had to move with them suffices: tried only if nothing else is confirmed
}

// pairOf is a pair of dependent events of the base, in their order, and what turning it showed.
type pairOf struct {
	first, second int
	origin        report.Origin
	waiter        *trace.Waiter // not nil: second is its last event, and it waits for an operation behind that
	experiment.Trial
}

// stuck reports whether the execution fails because threads wait forever.
func (x *explainer) stuck() bool {
	k := x.Base.Ending.Kind
	return k == trace.Deadlock || k == trace.Hang || k == trace.Livelock || k == trace.Leak
}

// repeat executes the recorded schedule with all accesses, and again with those that threads share as
// scheduling points.
func (x *explainer) repeat(ctx context.Context, t target.Target, recorded *trace.Trace) error {
	plan, err := ReplayPlan(t, recorded)
	if err != nil {
		return err
	}
	r, err := x.Whole(ctx, plan)
	if err == nil {
		err = unrecorded(t, &r.Outcome)
	}
	if err != nil {
		return err
	}
	if r.Verdict != experiment.Same {
		return fmt.Errorf("the execution could not be repeated: it ended with %v", r.Ending.Kind)
	}
	if _, err := x.Expose(ctx); err != nil {
		return err
	}
	x.pairs = append(waitingPairs(x.Base), waitingTalks(x.Base)...)
	pairs, all := experiment.Dependent(x.Base)
	x.omitted = !all
	failed := failedAt(x.Base)
	for _, p := range slices.Concat(usedLate(x.Base), experiment.Halfway(x.Base), experiment.Broken(x.Base), experiment.Interruptions(x.Base), pairs, experiment.Extents(x.Base), experiment.Selects(x.Base)) {
		if (p[1] < failed || x.Base.Events[p[1]].Thread != x.Base.Ending.Thread) && !slices.ContainsFunc(x.pairs, func(q pairOf) bool { return q.waiter == nil && q.first == p[0] && q.second == p[1] }) {
			x.pairs = append(x.pairs, pairOf{first: p[0], second: p[1], origin: max(x.Origin(x.Base, p[0]), x.Origin(x.Base, p[1]))})
		}
	}
	return nil
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

// usedLate returns, for an execution that ends as a thread uses a lock or the like in memory which another has freed, the free and that
// use, and where it was in a function's frame, the last operations of the other thread on its stack and the use. Accesses to memory are
// among the dependent events.
func usedLate(t *trace.Trace) (out [][2]int) {
	use, object := lastOf(t, t.Ending.Thread), t.Ending.Object
	if t.Ending.Kind != trace.Misuse || use < 0 || object == 0 || t.Events[use].Object != object {
		return nil
	}
	if free := pattern.Freed(t); free >= 0 && free < use {
		out = append(out, [2]int{free, use})
		for e := free - 1; e >= 0; e-- { // what was in it, which is destroyed first
			ev := &t.Events[e]
			if ev.Thread != t.Events[free].Thread || ev.Flags&trace.FlagNoDecision != 0 {
				continue
			}
			if ops.Does(ev.Op) != ops.Destroy || !race.Overlap(ev, &t.Events[free]) {
				break
			}
			out = append(out, [2]int{e, use})
		}
		return out
	}
	if object.Region() != trace.RegionStack {
		return nil
	}
	for e := use - 1; e >= 0 && len(out) < explainNear; e-- {
		ev := &t.Events[e]
		if ev.Thread != t.Ending.Thread && ev.Flags&trace.FlagNoDecision == 0 && ev.Object.Region() == trace.RegionStack && ev.Object.Index() == object.Index() {
			out = append(out, [2]int{e, use})
		}
	}
	return out
}

// failedAt returns the event with which a test failed, or the first after the operation by which a goroutine panicked, and the number of events for
// other failures. What its thread does then is left out: it ends the test, or calls deferred functions.
func failedAt(t *trace.Trace) int {
	end := &t.Ending
	for i, ev := range slices.Backward(t.Events) {
		switch {
		case ev.Thread != end.Thread:
		case ops.Does(ev.Op) == ops.Fail:
			return i
		case end.Kind == trace.Panic && end.Site != 0 && ev.Site == end.Site && ev.Flags&trace.FlagNoDecision == 0:
			return i + 1
		}
	}
	return len(t.Events)
}

// waitingTalks returns, for each thread that waits for a channel when the execution ends, the last operations on channels of other
// threads: one of them may have come before the one for which it waits.
func waitingTalks(t *trace.Trace) (out []pairOf) {
	for i := range t.Ending.Waiters {
		w := &t.Ending.Waiters[i]
		if ops.Of(w.Op).Of != ops.Channel || w.Site == 0 {
			continue
		}
		second := lastOf(t, w.Thread)
		var firsts []int
		seen := map[trace.ThreadID]bool{w.Thread: true}
		for e, ev := range slices.Backward(t.Events) {
			does := ops.Does(ev.Op)
			if (does == ops.Communicate || does == ops.Select) && ev.Flags&trace.FlagNoDecision == 0 && ev.Site != 0 && !seen[ev.Thread] {
				seen[ev.Thread] = true
				firsts = append(firsts, e)
			}
		}
		for _, e := range firsts[:min(len(firsts), explainNear)] {
			if second >= 0 {
				out = append(out, pairOf{first: e, second: second, waiter: w})
			}
		}
	}
	return out
}

// turnWaiting lets the first of a pair wait until the waiting thread has done what it waits for: the holder of a lock before it acquires
// it.
func (x *explainer) turnWaiting(ctx context.Context, p *pairOf) error {
	events := x.Base.Events
	rest := slices.DeleteFunc(slices.Clone(events[p.first:]), func(ev trace.Event) bool { return ev.Thread == events[p.first].Thread })
	plan := x.Follow(experiment.Steps(slices.Concat(events[:p.first], rest)))
	plan.Holds = holding(x.Base, p.first, p.waiter.Site)
	r, err := x.Run(ctx, plan)
	if err != nil || r.Trace == nil || !r.Passed() {
		return err
	}
	if r.Verdict != experiment.Passes {
		p.Failed++ // or is not known to pass
		return nil
	}
	p.Passed, p.Passing = 1, r.Trace
	return nil
}

// holding returns the hold of a thread before an event until another thread has done until, or until the others can do no more, though
// their sleeps end and their waits time out.
func holding(t *trace.Trace, event int, until trace.Site) []schedule.Hold {
	h := experiment.HoldBefore(t, event, until)
	h.Time = true
	return []schedule.Hold{h}
}

// turnSome turns some pairs of an origin, and then tries the suspects among all that were turned; it returns the pairs that are left. Where half of
// the time is used up and there is a suspect, it turns no more. early are suspects from before.
func (x *explainer) turnSome(ctx context.Context, origin report.Origin, order []int, some int, early []*suspect) (left []int, err error) {
	pairs := x.compared()
	hurries := !x.Late()
	some = min(some, len(order))
	for done, k := range order[:some] {
		if hurries && x.Late() && x.suspects(origin) {
			some = done
			break
		}
		if err := x.turn(ctx, pairs, k); errors.Is(err, experiment.ErrLimit) {
			some = len(order)
			break
		} else if err != nil {
			return nil, err
		}
	}
	if left = order[some:]; len(left) == 0 {
		if err := unlessLimit(x.bisect(ctx, origin)); err != nil {
			return nil, err
		}
	}
	for _, c := range x.ranked(early, x.turned(origin)) {
		if len(x.confirmed) >= explainOrders {
			break
		}
		confirmed, err := x.settle(ctx, c)
		if err != nil {
			return nil, unlessLimit(err)
		}
		if confirmed && len(left) > 0 && x.named(c) != unnamed {
			break
		}
	}
	return left, nil
}

// compared returns the pairs that Trial.Turned numbers: all but those of threads that wait, which come first in x.pairs.
func (x *explainer) compared() (pairs [][2]int) {
	for k := range x.pairs {
		if p := &x.pairs[k]; p.waiter == nil {
			pairs = append(pairs, [2]int{p.first, p.second})
		}
	}
	return pairs
}

// turn turns a pair of x.pairs; pairs are those of compared.
func (x *explainer) turn(ctx context.Context, pairs [][2]int, k int) (err error) {
	p := &x.pairs[k]
	if p.waiter != nil {
		p.Turned = []int{-1} // none of the others
		return x.turnWaiting(ctx, p)
	}
	p.Trial, err = x.Try(ctx, pairs, k-(len(x.pairs)-len(pairs)), false)
	return err
}

// long reports whether the execution is so long that the pairs that tell most are tried before the others are turned.
func (x *explainer) long() bool { return len(x.Base.Events) > explainLong }

// suspects reports whether the pairs that were turned so far have an ordering with a control.
func (x *explainer) suspects(origin report.Origin) bool {
	return slices.ContainsFunc(x.pairs, func(p pairOf) bool { return p.origin == origin && p.Passed > 0 && p.Failed == 0 && p.Controlled })
}

// slice returns the pairs of an origin in the order in which they are turned. In a long execution, those come first whose objects
// the threads that fail or wait used last: what a failure depends on has mostly reached these threads through them.
func (x *explainer) slice(origin report.Origin) (order []int) {
	for k := range x.pairs {
		if x.pairs[k].origin == origin {
			order = append(order, k)
		}
	}
	if !x.long() {
		return order
	}
	last := x.lastUsed()
	rank := func(k int) int {
		p := &x.pairs[k]
		if p.waiter != nil {
			return -1
		}
		best := explainObjects
		for _, e := range []int{p.first, p.second} {
			for _, object := range used(&x.Base.Events[e]) {
				if n, ok := last[object]; ok {
					best = min(best, n)
				}
			}
		}
		return best
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

// lastUsed numbers the last objects that each thread which fails or waits used, the last one 0.
func (x *explainer) lastUsed() map[trace.Object]int {
	out := map[trace.Object]int{}
	add := func(object trace.Object, n int) {
		if before, ok := out[object]; object != 0 && (!ok || n < before) {
			out[object] = n
		}
	}
	end := &x.Base.Ending
	threads := map[trace.ThreadID]map[trace.Object]bool{end.Thread: {}}
	add(end.Object, 0)
	for _, w := range end.Waiters {
		threads[w.Thread] = map[trace.Object]bool{}
		add(w.Object, 0)
	}
	left := len(threads)
	for i := range slices.Backward(x.Base.Events) {
		ev := &x.Base.Events[i]
		seen, ok := threads[ev.Thread]
		if !ok || len(seen) >= explainObjects {
			continue
		}
		for _, object := range used(ev) {
			if object == 0 || seen[object] || object.Region() == trace.RegionStack {
				continue
			}
			add(object, len(seen))
			seen[object] = true
		}
		if len(seen) >= explainObjects {
			if left--; left == 0 {
				break
			}
		}
	}
	return out
}

// used returns the objects of an event: of memory, the word that it begins in.
func used(ev *trace.Event) [2]trace.Object {
	object := ev.Object
	if ops.Of(ev.Op).Of == ops.Memory {
		object &^= 7
	}
	return [2]trace.Object{object, ops.Acquires(ev)}
}

// delay looks for an event that comes before another that never happens, because the execution fails first, or that
// happens too late. It follows the execution until before one of the events, and lets all other threads do
// what they can before it continues. If then the execution does not fail, the thread was too early. Of each instruction
// of a thread, only the nth execution from the end on is delayed. A wait for a counter cannot be too early. The last such event counts, and of the events of others
// meanwhile the first that depends on it and suffices. Only events behind event after are delayed.
//
// It hands each such ordering to accept until that returns true.
func (x *explainer) delay(ctx context.Context, of func(event int) bool, nth, most, after int, accept func(context.Context, *suspect) (bool, error)) error {
	base := x.Base
	for _, e := range x.delayable(of, nth, most, after) {
		ev := &base.Events[e]
		does := ops.Does(ev.Op)
		before := experiment.Before(base, e)
		plan := x.Reordered(before, ev.Site)
		plan.Holds = holding(x.Base, e, 0)
		r, err := x.Run(ctx, plan)
		if err != nil {
			return unlessLimit(err)
		}
		if r.Trace == nil || r.Verdict != experiment.Passes || !r.Held() {
			continue
		}
		own := r.At(e)
		parts := experiment.Parts(r.Trace)
		var others []int
		for other := len(before); other < own; other++ {
			ev2 := &r.Trace.Events[other]
			if ev2.Thread == ev.Thread || auxiliary(ev2.Op) || ev2.Op.IsAccess() && parts[ev2.Site] || ops.Does(ev2.Op) == ops.Selected || !depends(ev, ev2) && !x.counts(e, ev2) {
				continue
			}
			others = append(others, other)
		}
		ends := does == ops.Free || does == ops.Destroy // then every use has to come before it
		if ends {
			slices.Reverse(others)
		}
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(x.Origin(r.Trace, a), x.Origin(r.Trace, b)) })
		named := false
		for _, other := range slices.Concat(x.awaited(r, len(before), own), others)[:min(len(others), explainOthers)] {
			if !ends {
				other = acquisition(r.Trace, other, len(before))
			}
			found, err := x.tooEarly(ctx, e, r, own, other)
			if err != nil {
				return unlessLimit(err)
			}
			if found == nil {
				continue
			}
			if found.loose {
				x.loose = append(x.loose, found)
				continue
			}
			named = true
			if done, err := accept(ctx, found); err != nil || done {
				return unlessLimit(err)
			}
		}
		if named || ev.Op.IsAccess() && len(others) == 0 { // what an access depends on follows it, perhaps with more that belongs together
			continue
		}
		found, err := x.narrow(ctx, e, r, len(before), own)
		if err != nil {
			return unlessLimit(err)
		}
		if found == nil {
			continue
		}
		if ev.Op.IsAccess() { // what it waits for in all may be several orders that matter together
			second, in := found.Second, base
			if second < 0 {
				second, in = found.InPassing, found.passing
			}
			if !depends(ev, &in.Events[second]) {
				continue
			}
		}
		if found.loose {
			x.loose = append(x.loose, found)
			continue
		}
		if done, err := accept(ctx, found); err != nil || done {
			return unlessLimit(err)
		}
	}
	return nil
}

// delayable returns the events of the base behind event after that delay delays a thread before, in that order. Of a test's report, or what else a
// thread does for itself, there is a lot: accesses to memory that no other thread accesses come after the others, but for the last few.
func (x *explainer) delayable(of func(event int) bool, nth, most, after int) []int {
	base := x.Base
	type place struct {
		thread trace.ThreadID
		site   trace.Site
	}
	seen := map[place]int{}
	parts := experiment.Parts(base)
	var out, alone []int
	n := 0
	for e := len(base.Events) - 1; e > after; e-- {
		ev := &base.Events[e]
		does := ops.Does(ev.Op)
		if !of(e) || ev.Site == 0 || x.systems(ev.Site) || ev.Op.IsAccess() && parts[ev.Site] || ev.Object.Region() == trace.RegionStack && ops.Of(ev.Op).Of == ops.Memory && x.alone(ev) ||
			ev.Op.IsAccess() && ev.Object == 0 || ev.Op == trace.OpAbort || ev.Op == trace.OpSignal || does == ops.None || does == ops.Allocate || does == ops.Wait && ops.Of(ev.Op).Of == ops.WaitGroup || auxiliary(ev.Op) || ev.Flags&trace.FlagNoDecision != 0 && !ev.Op.IsAccess() {
			continue
		}
		at := place{ev.Thread, ev.Site}
		if seen[at]++; seen[at] != nth {
			continue
		}
		if n++; n > explainNear && ev.Op.IsAccess() && x.alone(ev) {
			alone = append(alone, e)
		} else {
			out = append(out, e)
		}
	}
	x.omitted = x.omitted || most >= explainDelays && max(len(out), len(alone)) > most
	if out = some(out, most); most < explainDelays {
		return out
	}
	return append(out, some(alone, most)...)
}

// alone reports whether no thread but that of an access of the base accesses its memory there.
func (x *explainer) alone(ev *trace.Event) bool {
	const both = -1
	if x.users == nil {
		x.users = map[trace.Object]trace.ThreadID{}
		for i := range x.Base.Events {
			if own := &x.Base.Events[i]; own.Op.IsAccess() {
				for _, word := range words(own) {
					if th, ok := x.users[word]; !ok {
						x.users[word] = own.Thread
					} else if th != own.Thread {
						x.users[word] = both
					}
				}
			}
		}
	}
	return !slices.ContainsFunc(words(ev), func(word trace.Object) bool { return x.users[word] == both })
}

// words returns the words of memory that an access begins and ends in.
func words(ev *trace.Event) []trace.Object {
	object, size := race.Place(ev)
	return []trace.Object{object &^ 7, (object + trace.Object(max(size, 1)) - 1) &^ 7}
}

// awaited returns what threads that wait when the base ends do meanwhile in an execution that delays an event from event from to event to.
func (x *explainer) awaited(r *experiment.Result, from, to int) (out []int) {
	for i := from; i < to; i++ {
		ev := &r.Trace.Events[i]
		if ev.Flags&trace.FlagNoDecision == 0 && slices.ContainsFunc(x.Base.Ending.Waiters, func(w trace.Waiter) bool {
			return w.Thread == ev.Thread && w.Site == ev.Site && w.Op == ev.Op && ops.Of(w.Op).Of == ops.Channel
		}) {
			out = append(out, i)
		}
	}
	return out
}

// counts reports whether an event counts what the failing operation, event e, counts below zero.
func (x *explainer) counts(e int, other *trace.Event) bool {
	ev, end := &x.Base.Events[e], &x.Base.Ending
	return ops.Does(ev.Op) == ops.Count && ops.Does(other.Op) == ops.Count && ev.Object == other.Object && int64(other.Value) > 0 &&
		end.Kind == trace.Panic && end.Thread == ev.Thread && e == lastOf(x.Base, ev.Thread)
}

// lastOf returns the last scheduling decision of a thread.
func lastOf(t *trace.Trace, th trace.ThreadID) int {
	for i, ev := range slices.Backward(t.Events) {
		if ev.Thread == th && ev.Flags&trace.FlagNoDecision == 0 {
			return i
		}
	}
	return -1
}

// systems reports whether a site is in a library of the system, whose own synchronisation does not explain anything.
func (x *explainer) systems(s trace.Site) bool {
	m := s.Module()
	return m >= 0 && m < len(x.Base.Modules) && !report.OwnModule(x.Base.Modules[m])
}

// auxiliary reports whether an operation never stands for an ordering itself: where a thread or a test begins and ends, where a goroutine
// goes on that another one has woken, and what Go's race detector is told of an operation that has an event of its own.
func auxiliary(op trace.Op) bool {
	s := ops.Of(op)
	return s.Of == ops.SyncVar || s.Of == ops.Test || s.Does == ops.Start || s.Does == ops.Finish || s.Does == ops.Continue
}

// operation returns, for an event that is part of an operation on a channel, that operation, and the event itself for others.
func operation(t *trace.Trace, part int) int {
	ev := &t.Events[part]
	if ev.Site == 0 || ev.Flags&trace.FlagNoDecision == 0 && !auxiliary(ev.Op) {
		return part
	}
	for i, e := range slices.Backward(t.Events[:part]) {
		if e.Thread != ev.Thread {
			continue
		}
		if e.Site != ev.Site {
			break
		}
		if e.Flags&trace.FlagNoDecision == 0 && !auxiliary(e.Op) {
			return i
		}
	}
	return part
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

// delayed executes the first events of an execution that delayed event e of the base, which is event at there, and then that event. A wait
// that times out in the base does so again, unless what it waits for is there.
func (x *explainer) delayed(ctx context.Context, e int, in *experiment.Result, first, at int) (*experiment.Result, error) {
	sites := []trace.Site{in.Trace.Events[at].Site}
	if first > 0 {
		sites = append(sites, in.Trace.Events[first-1].Site)
	}
	if first < len(in.Trace.Events) {
		sites = append(sites, in.Trace.Events[first].Site)
	}
	sites = slices.DeleteFunc(sites, func(s trace.Site) bool { return s == 0 })
	y := x.On(in.Trace, in.Plan)
	plan := y.Reordered(append(experiment.First(first), at), sites...)
	if x.Base.Events[e].Flags&trace.FlagTimeout != 0 {
		plan.Script[len(plan.Script)-1].Timeout = true
	}
	return y.Run(ctx, plan)
}

// tooEarly executes what happened in an execution that delayed event e of the base up to event other of another
// thread, and then e, which is event at there: it must not fail. If the same without other fails, other alone decides.
func (x *explainer) tooEarly(ctx context.Context, e int, in *experiment.Result, at, other int) (*suspect, error) {
	if !x.Room(2) {
		return nil, nil
	}
	until := other + 1
	if lock := ops.AcquiresAt(in.Trace, other); lock != 0 && lock == ops.AcquiresAt(in.Trace, at) {
		until = sectionsEnd(in.Trace, until, at) // otherwise it waits for the lock, and others go on meanwhile
	}
	r, err := x.delayed(ctx, e, in, until, at)
	if err != nil || r.Trace == nil || r.Verdict != experiment.Passes {
		return nil, err
	}
	second := r.At(other)
	if own := experiment.Match(x.Base, r.Trace).Of(e); second < 0 || own >= 0 && own < second {
		return nil, nil
	}
	control, err := x.delayed(ctx, e, in, operation(in.Trace, other), at) // whoever begins an operation ends it
	if err != nil {
		return nil, err
	}
	found := report.Order{First: e, Second: -1, InPassing: second, Controlled: control.Verdict == experiment.Same, Executions: 1}
	if later := experiment.Match(in.Trace, x.Base).Of(other); later > e {
		found.Second, found.InPassing = later, 0
	}
	return &suspect{Order: found, passing: r.Trace, loose: control.Verdict == experiment.Passes}, nil
}

// narrow looks for what event e, which is event at of an execution that delayed it from event from on and did not fail, came too early
// for, if no object tells: the first event of others by which the failure is gone, and without which it comes again.
func (x *explainer) narrow(ctx context.Context, e int, in *experiment.Result, from, at int) (*suspect, error) {
	fails, passes := from, at // with so many events before it
	for passes-fails > 1 {
		if !x.Room(3) {
			return nil, nil
		}
		mid := (fails + passes) / 2
		r, err := x.delayed(ctx, e, in, sectionsEnd(in.Trace, mid, at), at)
		if err != nil {
			return nil, err
		}
		switch {
		case r.Trace != nil && r.Verdict == experiment.Passes:
			passes = mid
		case r.Verdict == experiment.Same, r.Verdict == experiment.Other:
			fails = mid
		default:
			return nil, nil
		}
	}
	if passes <= from || in.Trace.Events[passes-1].Thread == x.Base.Events[e].Thread {
		return nil, nil
	}
	other := operation(in.Trace, passes-1)
	if th := in.Trace.Events[other].Thread; auxiliary(in.Trace.Events[other].Op) {
		// Where a thread begins says nothing: what it does first is meant.
		for i := other + 1; i < at; i++ {
			if ev := &in.Trace.Events[i]; ev.Thread == th && ev.Flags&trace.FlagNoDecision == 0 && !auxiliary(ev.Op) {
				other = i
				break
			}
		}
	}
	return x.tooEarly(ctx, e, in, at, other)
}

// sectionsEnd returns how many of the first events of an execution end the critical sections that threads other than that of event at are in
// after the first few. If these do not end before event at, it returns their number.
func sectionsEnd(t *trace.Trace, first, at int) int {
	open := slices.DeleteFunc(ops.LocksAt(t, first), func(l ops.HeldLock) bool { return l.Thread == t.Events[at].Thread })
	for i := first; i < at; i++ {
		if len(open) == 0 {
			return i
		}
		if lock := ops.ReleasesAt(t, i); lock != 0 {
			open = slices.DeleteFunc(open, func(l ops.HeldLock) bool { return l.Lock == lock && l.Thread == t.Events[i].Thread })
		}
	}
	return first
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
	if lock := ops.Acquires(a); lock != 0 && lock == ops.Acquires(b) {
		return true // their critical sections do
	}
	if one.Of == ops.Memory && two.Of == ops.Memory || (one.Of == ops.Block || two.Of == ops.Block) && a.Object != 0 && b.Object != 0 {
		return race.Overlap(a, b)
	}
	return a.Object == b.Object
}
