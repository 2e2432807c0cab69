package tinertia

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// restart searches for the bug again from the start, over all schedules that cost less than the
// current execution. It is not in the paper.
//
// A prefix is the beginning of an execution followed by another scheduling decision; the fair
// policy continues after it. The execution of a prefix shows every decision that is possible next,
// and each of those that the execution does not make itself is a new prefix. The first prefix is
// empty. There are three kinds of decision:
//
//   - If the previous thread is blocked, any enabled thread can be chosen. That costs no preemption.
//   - Otherwise, another thread preempts it.
//   - A signal wakes another waiter, a select tries another case first, or a wait or sleep ends
//     early.
//
// Prefixes with the fewest preemptions come first, then those near the preemptions of the execution
// that the search began with, then those with the fewest switches. This is iterative context
// bounding (Musuvathi and Qadeer, PLDI'07) guided by a known failing execution, with two bounds:
// prefixes that cost as much as the current execution are not extended, and of those that lead to
// one state (see states), only the cheapest are. When none is left, no schedule costs less.
//
// The frontier outlives improvements: it keeps the prefixes that have not been executed, and drops
// those that cost too much compared with a better execution.
type frontier struct {
	places  places // of the execution that the search began with
	known   known
	refused map[trace.Site]int // waits that did not end early when scheduled to
	merges  bool               // executions that reach one state are continued once
	// stuck means that in the bug no thread can run, so every thread that is certain to be
	// enabled must run before.
	stuck   bool
	open    []*prefix
	created int
	held    int64 // bytes of the steps that the prefixes share
	room    int64 // bound of size
	// gap is the reason why exhausting the prefixes would not prove that no schedule costs
	// less; empty if it would.
	gap string
}

// spent is the cost of a prefix.
type spent struct{ switches, preemptions int32 }

// within reports whether a costs no more than b in either respect.
func (a spent) within(b spent) bool {
	return a.switches <= b.switches && a.preemptions <= b.preemptions
}

// prefix is the forced beginning of an execution: steps of an earlier execution, followed by a
// different scheduling decision.
type prefix struct {
	base    []schedule.Step
	origin  *origin // of base
	choice  schedule.Step
	length  int            // of the script
	threads []trace.Thread // names for the steps; nil for the empty prefix

	spent
	owed     int    // lower bound on the switches that must follow
	distance int    // sum of the distances of its preemptions from those the search began with
	variant  bool   // its last decision differs from another prefix's only in the thread woken, or similar
	stays    int    // how often a thread continued although the fair policy would have switched, times stay
	number   int    // in order of creation; breaks ties
	state    uint64 // key of its last decision in frontier.known
}

// origin is the execution that prefixes are the beginnings of.
type origin struct {
	prefixes int   // of frontier.open
	size     int64 // bytes of its steps
}

func (p *prefix) script() []schedule.Step {
	if p.length == 0 {
		return nil
	}
	return append(splice(p.base), p.choice)
}

func (p *prefix) compare(o *prefix) int {
	return cmp.Or(
		cmp.Compare(p.preemptions, o.preemptions),
		cmp.Compare(p.distance, o.distance),
		cmp.Compare(int(p.switches)+p.owed, int(o.switches)+o.owed),
		cmp.Compare(p.number, o.number),
	)
}

const (
	// maxOpen bounds the prefixes awaiting execution, at about 200 bytes each.
	maxOpen = 1 << 20
	// maxWalk bounds the decisions examined in one execution.
	maxWalk = 1 << 14
	// maxStays bounds how often one prefix keeps a thread running that yields, spins or has run
	// for long. A yield that the runtime inserted into a computation counts as 1/stay of that,
	// since computations end, unlike polling.
	maxStays = 4
	stay     = 16
	// maxRefused is how often a wait is scheduled to end early before it counts as one without
	// a deadline.
	maxRefused = 2
	// restartBatch is the number of prefixes executed together. It is a constant, so that the
	// result does not depend on how many can run at once.
	restartBatch = 32
)

// newFrontier returns a frontier guided by the execution q.
func newFrontier(q *sequence, merges bool, room int64) *frontier {
	return &frontier{
		places: q.switchPlaces(), known: newKnown(), merges: merges, room: room,
		stuck:   q.trace.Ending.Kind == trace.Deadlock && q.trace.Header.Target != "go",
		refused: map[trace.Site]int{},
		open:    []*prefix{{}},
	}
}

// restart executes at most limit prefixes, until one of their executions is accepted. exhausted
// means that no prefix is left that could be simpler than the current execution.
func (s *search) restart(limit int) (better, exhausted bool, err error) {
	if s.frontier == nil {
		s.frontier = newFrontier(s.cur, s.opts.Accesses, cmp.Or(s.opts.Memory, math.MaxInt64)/2)
	}
	f := s.frontier
	for before := s.made; s.made-before < limit; {
		batch := f.take(min(restartBatch, limit-(s.made-before)), s.cur.cost)
		if len(batch) == 0 {
			return false, true, nil
		}
		found, err := s.runPrefixes(batch)
		if found != nil && found.shared && err == nil {
			found, err = s.simplerAlone(Restart, found)
		}
		if found != nil {
			s.accept(Restart, found)
			return true, false, err
		}
		if err != nil {
			return false, false, err
		}
	}
	return false, false, nil
}

// runPrefixes executes a batch and returns its simplest execution that is simpler than the current
// one, if any.
func (s *search) runPrefixes(batch []*prefix) (*verdict, error) {
	var best *verdict
	st := s.stats[Restart]
	err := s.executeAll(batch, s.frontier.view, func(p *prefix, v *verdict, seen *view, executed bool) {
		st.Tried++
		if executed {
			st.Executed++
		}
		if seen == nil {
			seen = s.frontier.view(v.trace)
		}
		s.frontier.expand(p, seen, s.cur.cost, s.opts.Delays)
		simpler := v.same && s.simpler(v.cost) && (best == nil || v.cost.Compare(best.cost) < 0)
		if simpler {
			kept := *v // memory may drop the trace
			best = &kept
		}
		if executed && s.opts.Progress != nil {
			s.opts.Progress(Progress{Restart, s.made, s.iteration, simpler, s.cur.cost})
		}
	})
	return best, err
}

// take removes the next n prefixes that could be simpler than cost.
func (f *frontier) take(n int, cost trace.Cost) []*prefix {
	var out []*prefix
	for len(out) < n && len(f.open) > 0 {
		p := heap.Pop(f).(*prefix)
		if o := p.origin; o != nil {
			if o.prefixes--; o.prefixes == 0 {
				f.held -= o.size
			}
		}
		if !useful(p.spent, p.owed, cost) || f.beaten(p) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// beaten reports whether a cheaper prefix to the state of p has been found since p was pushed.
func (f *frontier) beaten(p *prefix) bool {
	return f.known.beaten(p.state, p.spent)
}

// useful reports whether an execution with a prefix of this cost that must still switch owed times
// can have fewer switches than cost, or as many and fewer preemptions.
func useful(p spent, owed int, cost trace.Cost) bool {
	least := int(p.switches) + owed
	return least < cost.Switches || least == cost.Switches && int(p.preemptions) < cost.Preemptions
}

// Reasons why an exhausted frontier proves nothing.
const (
	gapRoom        = "there are too many schedules to keep count of"
	gapLong        = "executions are too long to try every schedule"
	gapForced      = "a thread could not be scheduled where it was enabled"
	gapStays       = "threads yield or spin, and can be kept running in endless ways"
	gapSpontaneous = "signals, timers or child processes may come at any time"
	gapSelect      = "a select has too many cases"
	gapWakes       = "a futex call wakes some of several waiters"
	gapAccesses    = "an execution makes too many accesses to memory to tell its states apart: a smaller input may show more"
	gapOutside     = "executions wait for other processes or the network"
	gapRandom      = "the program draws random numbers"
	gapCut         = "executions are cut, and might fail later"
	gapShared      = "executions share a process, where one may affect the next, and there are too many to repeat each in its own"
)

// view is what expand needs of an execution: most of the work, and independent of other executions.
type view struct {
	q      *sequence
	states *states // nil unless merges
}

// view returns the view of an execution. It may be called from any goroutine.
func (f *frontier) view(t *trace.Trace) *view {
	seen := &view{q: newSequence(t, 0)}
	if f.merges {
		seen.states = statesOf(seen.q)
	}
	return seen
}

// expand adds the prefixes that differ from the execution of p in one scheduling decision after p.
func (f *frontier) expand(p *prefix, seen *view, cost trace.Cost, delays schedule.Delays) {
	q := seen.q
	if !f.follows(p, q) {
		return
	}
	w := newWalk(f, p, seen, delays)
	for i := range q.events {
		if q.trace.Header.Target == "go" && q.trace.Threads[q.events[i].Thread].IsClock() {
			f.gap = cmp.Or(f.gap, gapSpontaneous) // when a timer may fire depends on virtual time
		}
		if i == maxWalk {
			f.gap = cmp.Or(f.gap, gapLong)
			return
		}
		if i == p.length-1 && !p.variant {
			w.wakes(i, cost)
		}
		if i >= p.length {
			w.branch(i, cost)
			// The decision that the execution made itself. If its state was reached
			// before, the rest has been examined.
			if next := w.after(i, q.events[i].Thread); !useful(next, w.owed(i, q.events[i].Thread), cost) || !f.note(w.key(i, &q.steps[i]), next) {
				return
			}
		}
		w.advance(i)
		if ops.Of(q.events[i].Op).Spontaneous && q.events[i].Op != trace.OpSpuriousWake {
			f.gap = cmp.Or(f.gap, gapSpontaneous)
		}
	}
}

// follows reports whether the execution made the decisions of the prefix.
func (f *frontier) follows(p *prefix, q *sequence) bool {
	if p.length == 0 {
		return true
	}
	ok := len(q.events) >= p.length
	if ok {
		made, want := q.steps[p.length-1], p.choice
		ok = nameOf(q.trace.Threads, made.Thread) == nameOf(p.threads, want.Thread) && made.Timeout == want.Timeout
	}
	switch {
	case ok:
	case p.choice.Timeout:
		f.refused[p.choice.Site]++ // it has no deadline, or too late a deadline
	default:
		f.gap = cmp.Or(f.gap, gapForced)
	}
	return ok
}

// note records a prefix's cost at a decision, and reports whether none was known that costs no
// more.
func (f *frontier) note(key uint64, c spent) bool {
	return !f.merges || f.known.note(key, c, f.size() > f.room)
}

// size returns about how many bytes the frontier takes.
func (f *frontier) size() int64 { return f.held + f.known.size() + prefixEntry*int64(len(f.open)) }

// walk iterates over the decisions of an execution.
type walk struct {
	f      *frontier
	p      *prefix
	q      *sequence
	states *states
	delays schedule.Delays
	sync   ops.State
	queued bool // sync follows the execution
	origin *origin
	next   map[trace.ThreadID][]int
	done   map[trace.ThreadID]int // operations so far
	knows  map[trace.ThreadID]uint64
	ended  map[trace.ThreadID]bool
	wait   map[trace.ThreadID]trace.Site // of the wait whose queue contains the thread
	spent
}

func newWalk(f *frontier, p *prefix, seen *view, delays schedule.Delays) *walk {
	q := seen.q
	w := &walk{
		f: f, p: p, q: q, states: seen.states, origin: &origin{size: stepSize * int64(len(q.steps))}, delays: delays, next: nextSteps(q), done: map[trace.ThreadID]int{},
		knows: map[trace.ThreadID]uint64{}, ended: map[trace.ThreadID]bool{}, wait: map[trace.ThreadID]trace.Site{},
		queued: !slices.ContainsFunc(q.trace.Threads, func(t trace.Thread) bool { return t.IsClock() }) && q.trace.Header.Target != "go",
	}
	if f.merges {
		knows := map[trace.ThreadID]uint64{}
		for i := range q.steps {
			id := q.steps[i].Thread
			if k := knows[id]; k != 0 {
				f.known.follow(k, q.steps[i])
			}
			knows[id] = w.states.local[i]
		}
	}
	return w
}

// last returns the thread of the decision before i, or -1.
func (w *walk) last(i int) trace.ThreadID {
	if i == 0 {
		return -1
	}
	return w.q.events[i-1].Thread
}

// after returns the cost of the execution up to decision i if thread to is chosen there.
func (w *walk) after(i int, to trace.ThreadID) spent {
	c, last := w.spent, w.last(i)
	if last >= 0 && last != to {
		c.switches++
		if w.q.events[i].Preempts(last) {
			c.preemptions++
		}
	}
	return c
}

// owed returns a lower bound on the switches that must follow if thread to is chosen in decision i.
// An enabled thread whose operation never blocks stays enabled until it has run. If in the bug no
// thread is enabled, each of them must run.
func (w *walk) owed(i int, to trace.ThreadID) (n int) {
	if !w.f.stuck {
		return 0
	}
	for id := range w.q.events[i].Enabled.All() {
		if id == to {
			continue
		}
		op := trace.OpNone
		if next := w.next[id]; len(next) > 0 {
			op = w.q.steps[next[0]].Op
		} else if step, ok := w.f.known.following(w.knows[id]); ok {
			op = step.Op
		}
		if op != trace.OpNone && ops.Of(op).Blocks == ops.Never {
			n++
		}
	}
	return n
}

// key identifies a decision in the state before decision i.
func (w *walk) key(i int, s *schedule.Step) uint64 {
	if w.states == nil {
		return 0
	}
	h := scheduleHash{w.q.trace.Threads, w.states.before[i]}
	h.mix(nameOf(h.threads, s.Thread))
	extra := uint64(s.Choice) << 1
	if s.Timeout {
		extra |= 1
	}
	h.mix(extra)
	if s.Wake >= 0 {
		h.mix(nameOf(h.threads, s.Wake))
	}
	return h.sum
}

// branch pushes the alternatives to decision i.
func (w *walk) branch(i int, cost trace.Cost) {
	e := &w.q.events[i]
	last := w.last(i)
	for to := range e.Enabled.All() {
		if to == e.Thread {
			continue
		}
		stays := w.p.stays
		if to == last {
			// The fair policy switched away, because the thread yields, spins or has run for long.
			if w.forced(to) {
				stays++
			} else {
				stays += stay
			}
			if stays > maxStays*stay {
				w.f.gap = cmp.Or(w.f.gap, gapStays)
				continue
			}
		}
		w.push(i, w.choice(to), false, stays, cost)
	}
	w.wakes(i, cost)
	if w.delays != schedule.NoDelays {
		w.early(i, cost)
	}
}

// forced reports whether the thread's next operation is a yield that the runtime inserted into a
// computation.
func (w *walk) forced(id trace.ThreadID) bool {
	n := w.next[id]
	return len(n) > 0 && w.q.events[n[0]].Flags&trace.FlagForced != 0
}

// wakes pushes the other threads that a signal could wake, and the other cases that a select could
// try first.
func (w *walk) wakes(i int, cost trace.Cost) {
	e := &w.q.events[i]
	step := w.q.steps[i]
	switch {
	case e.Op == trace.OpSelect:
		if e.Size > 8 {
			w.f.gap = cmp.Or(w.f.gap, gapSelect)
			return
		}
		for c := 1; c <= int(e.Size); c++ {
			if c != step.Choice {
				other := step
				other.Choice = c
				w.push(i, other, true, w.p.stays, cost)
			}
		}
	case !w.queued:
	case e.Op == trace.OpCondSignal || e.Op == trace.OpFutexWake:
		waiting := 0
		for u := range w.q.trace.Threads {
			id := trace.ThreadID(u)
			if at, ok := w.sync.Waiting(id); !ok || at != e.Object {
				continue
			}
			waiting++
			if id != step.Wake {
				other := step
				other.Wake = id
				w.push(i, other, true, w.p.stays, cost)
			}
		}
		if e.Op == trace.OpFutexWake && e.Value > 1 && int(e.Value) < waiting {
			w.f.gap = cmp.Or(w.f.gap, gapWakes)
		}
	}
}

// early pushes the waits and sleeps that could end early.
func (w *walk) early(i int, cost trace.Cost) {
	e := &w.q.events[i]
	for u := range w.q.trace.Threads {
		id := trace.ThreadID(u)
		if e.Enabled.Has(id) || w.ended[id] || id == e.Thread {
			continue
		}
		step := schedule.Step{Thread: id, Wake: -1, Timeout: true}
		if site, ok := w.wait[id]; ok {
			step.Op, step.Site = trace.OpCondTimeout, site
		} else if n := w.next[id]; len(n) > 0 && w.timed(w.q.events[n[0]].Op) {
			step.Op, step.Site = w.q.steps[n[0]].Op, w.q.steps[n[0]].Site
		} else {
			continue
		}
		if w.f.refused[step.Site] < maxRefused {
			w.push(i, step, true, w.p.stays, cost)
		}
	}
}

// timed reports whether an operation may end early.
func (w *walk) timed(op trace.Op) bool {
	spec := ops.Of(op)
	return spec.Deadline || spec.Blocks == ops.UntilTime || op == trace.OpFutexWakeup || op == trace.OpFdPoll
}

// push adds a prefix: the execution up to decision i, followed by another decision.
func (w *walk) push(i int, choice schedule.Step, variant bool, stays int, cost trace.Cost) {
	c, owed := w.after(i, choice.Thread), w.owed(i, choice.Thread)
	if !useful(c, owed, cost) {
		return
	}
	f := w.f
	key := w.key(i, &choice)
	if !f.note(key, c) {
		return
	}
	if len(f.open) >= maxOpen || f.size() > f.room {
		f.gap = cmp.Or(f.gap, gapRoom)
		return
	}
	p := &prefix{base: w.q.steps[:i], origin: w.origin, choice: choice, length: i + 1, threads: w.q.trace.Threads, spent: c, owed: owed, distance: w.p.distance, variant: variant, stays: stays, state: key}
	if c.preemptions > w.preemptions {
		last := w.last(i)
		p.distance += f.places.distance(p.threads, &w.q.events[i-1], w.done[last], choice.Thread)
	}
	if w.origin.prefixes++; w.origin.prefixes == 1 {
		f.held += w.origin.size
	}
	f.created++
	p.number = f.created
	heap.Push(f, p)
}

// advance applies decision i.
func (w *walk) advance(i int) {
	e := &w.q.events[i]
	w.spent = w.after(i, e.Thread)
	w.done[e.Thread]++
	if n := w.next[e.Thread]; len(n) > 0 {
		w.next[e.Thread] = n[1:]
	}
	if w.states != nil {
		w.knows[e.Thread] = w.states.local[i]
	}
	if ops.Does(e.Op) == ops.Finish {
		w.ended[e.Thread] = true
	}
	delete(w.wait, e.Thread)
	if !w.queued {
		return
	}
	w.sync.Apply(e)
	if at, ok := w.sync.Waiting(e.Thread); ok && at == e.Object {
		w.wait[e.Thread] = e.Site
	}
	for id := range w.wait {
		if _, ok := w.sync.Waiting(id); !ok {
			delete(w.wait, id)
		}
	}
}

// choice returns the step that schedules thread id next. If the execution ended before the thread
// was scheduled again, another execution may have shown its next operation. If none did, the step
// expects an operation that does not exist, so that the thread leaves the script at once and runs
// until it blocks, as under the fair policy.
func (w *walk) choice(id trace.ThreadID) schedule.Step {
	if n := w.next[id]; len(n) > 0 {
		step := w.q.steps[n[0]]
		step.Timeout = false // it is enabled
		return step
	}
	if step, ok := w.f.known.following(w.knows[id]); ok {
		step.Thread, step.Wake, step.Timeout = id, -1, false
		return step
	}
	return schedule.Step{Thread: id, Op: trace.OpNone, Wake: -1}
}

// nextSteps returns the indices of each thread's steps.
func nextSteps(s *sequence) map[trace.ThreadID][]int {
	next := map[trace.ThreadID][]int{}
	for i, step := range s.steps {
		next[step.Thread] = append(next[step.Thread], i)
	}
	return next
}

func (f *frontier) Len() int           { return len(f.open) }
func (f *frontier) Less(i, j int) bool { return f.open[i].compare(f.open[j]) < 0 }
func (f *frontier) Swap(i, j int)      { f.open[i], f.open[j] = f.open[j], f.open[i] }
func (f *frontier) Push(x any)         { f.open = append(f.open, x.(*prefix)) }
func (f *frontier) Pop() any {
	last := len(f.open) - 1
	p := f.open[last]
	f.open[last] = nil
	f.open = f.open[:last]
	return p
}

// place identifies a context switch across executions.
type place struct {
	from, to uint64 // threads
	op       trace.Op
	site     trace.Site // of the last operation of from before the switch
}

// switchPlaces returns the context switches of an execution, and for each thread how many
// operations it had performed whenever it was descheduled.
func (q *sequence) switchPlaces() places {
	p := places{at: map[place]bool{}, done: map[uint64][]int{}}
	count := map[trace.ThreadID]int{}
	for k, tei := range q.teis[:max(0, len(q.teis)-1)] {
		count[tei.Thread] += tei.End - tei.Start
		p.at[placeOf(q.trace.Threads, &q.events[tei.End-1], q.teis[k+1].Thread)] = true
		from := nameOf(q.trace.Threads, tei.Thread)
		p.done[from] = append(p.done[from], count[tei.Thread])
	}
	return p
}

type places struct {
	at   map[place]bool
	done map[uint64][]int
}

func placeOf(threads []trace.Thread, last *trace.Event, to trace.ThreadID) place {
	return place{nameOf(threads, last.Thread), nameOf(threads, to), last.Op, last.Site}
}

// farAway is the distance of a preemption of a thread that the execution never deschedules.
const farAway = 1 << 16

// distance returns how far a preemption is from those of the execution. The preemption is after
// last, the n-th operation of its thread, in favour of thread to.
func (p places) distance(threads []trace.Thread, last *trace.Event, n int, to trace.ThreadID) int {
	if p.at[placeOf(threads, last, to)] {
		return 0
	}
	d := farAway
	for _, m := range p.done[nameOf(threads, last.Thread)] {
		d = min(d, 1+max(n-m, m-n))
	}
	return d
}
