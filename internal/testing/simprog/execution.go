package simprog

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// execution is one run of a program under a plan.
type execution struct {
	target  *Target
	plan    schedule.Plan
	sites   map[trace.Site]bool // plain accesses that are scheduling points
	threads []*Thread           // in order of creation, timers included
	script  script
	policy  policy
	holds   holds

	// programRand is the program's own source of random numbers.
	programRand *rand.Rand
	globals     uint64 // bytes
	heaps       uint64

	points    int  // scheduling points that threads have come to, and expiries of timers
	budget    int  // points after which the execution is cut off
	late      bool // the fair phase has begun
	suspected bool // of a hang
	fairAt    int  // points when the fair phase began, 0 if it has not
	fairUntil int  // points with which the last fair window ended, or is to end
	vain      int  // fruitless observations of all threads since then
	switches  int
	preempts  int
	current   *Thread         // that runs, or ran last
	last      *Thread         // of the last event, timers included; nil before the first
	since     int             // value of points when last began to run without a switch
	decision  trace.ThreadSet // threads enabled at the last decision
	arrivals  int             // at conditions
	timers    int             // that were made

	time       int64 // virtual ns
	slack      int64 // virtual ns that threads may yet overtake others by
	progressAt int   // points when something last changed for some thread
	drift      int64 // the next step of time while nothing changes
	driftAt    int   // progressAt then
	longSince  int64 // time when it began to pass although threads are at work, 0 if it has not

	over    bool
	ending  trace.Ending
	outcome schedule.Outcome

	record   bool
	accesses bool
	events   []trace.Event
	allocs   []trace.Alloc
	output   []byte
}

func newExecution(t *Target, p schedule.Plan) *execution {
	x := &execution{
		target: t, plan: p, sites: map[trace.Site]bool{}, budget: p.MaxSteps, slack: slackOf(p.Delays),
		programRand: rand.New(rand.NewPCG(p.Seed, 2)),
		record:      p.Record || p.Watch, accesses: !t.program.Blind && (p.Watch || p.Record),
	}
	if !t.program.Blind {
		for _, s := range p.Sites() {
			x.sites[s] = true
		}
	}
	x.script = newScript(p)
	if x.script.endsWithScript(&p) {
		x.budget = math.MaxInt
	}
	x.policy = newPolicy(x)
	x.holds = newHolds(x)
	return x
}

// run executes the program to its end.
func (x *execution) run() schedule.Outcome {
	defer func() {
		for _, t := range x.threads {
			if t.stop != nil {
				t.stop()
			}
		}
	}()
	main := x.newThread(nil, func(t *Thread) {
		x.target.program.Main(t)
		t.do(operation{op: trace.OpProcessExit, site: trace.MakeSite(0, 1)})
	})
	main.began = true
	x.current = main
	x.advance(main)
	for !x.over {
		x.step()
	}
	x.ending.Output = x.output
	o := &x.outcome
	o.Ending, o.Threads, o.Deviations = x.ending, len(x.threads), x.script.deviations
	o.FairAt = x.fairAt
	o.Holds = x.holds.counts
	o.Points, o.Switches, o.Preemptions = x.points, x.switches, x.preempts
	if x.record {
		t := x.trace()
		if x.plan.Watch {
			o.Watched = watched(t)
		}
		if w := x.plan.Watcher; w != nil {
			show(t, w, x.plan.SkipAccesses)
		}
		if !x.plan.Accesses {
			sparse(t, o.Watched)
		}
		if x.plan.Record {
			o.Trace = t
		}
	}
	return *o
}

// step lets one thread do its next operation, or what it does before that.
func (x *execution) step() {
	t := x.choose()
	if x.over {
		return
	}
	if t.timer {
		x.expire(t)
		return
	}
	x.current = t
	if t.detour != trace.OpNone {
		if x.doDetour(t); !x.over {
			x.arrive(t, true)
		}
		return
	}
	if !x.possible(t) { // chosen by a test
		x.deadlock()
		return
	}
	x.perform(t, x.flags(t))
	x.canRun() // newly enabled threads wait for the processor from now on
	if !x.over && !t.ended {
		x.advance(t)
	}
}

// choose picks the thread that does the next operation. If the execution is over, nothing
// was picked.
func (x *execution) choose() *Thread {
	x.script.wake = nil
	x.beginFairPhase()
	if x.late || x.points >= abi.Long {
		x.timeLong()
	}
	x.timeExpires()
	can := x.canRun()
	for len(can) == 0 {
		if !x.timePasses(forever) {
			x.deadlock()
			return nil
		}
		can = x.canRun()
	}
	x.decision = trace.ThreadSet{}
	for _, t := range can {
		x.decision.Add(t.id)
	}
	if x.target.choose != nil {
		t := x.target.choose(can)
		t.detour = x.detourNeeded(t)
		return t
	}
	x.holds.look()
	t := x.script.choose(x)
	if x.over {
		return t
	}
	script := t != nil
	if !script {
		t = x.policy.choose(can)
	}
	x.holds.chosen(t, script)
	return t
}

// canRun returns the enabled threads.
func (x *execution) canRun() []*Thread {
	var can []*Thread
	for _, t := range x.threads {
		if !t.ended && x.enabled(t) {
			if !t.couldRun {
				t.couldRun = true
				t.ran = x.points
			}
			can = append(can, t)
		} else {
			t.couldRun = false
		}
	}
	return can
}

// flags returns the flags for the event of t's pending operation.
func (x *execution) flags(t *Thread) trace.Flags {
	if t.next.forced {
		return trace.FlagForced
	}
	if t.timedOut && t.next.op != trace.OpCondWake && (t.next.op != trace.OpSleep || !x.decision.Has(t.id)) {
		return trace.FlagTimeout
	}
	return 0
}

// advance runs a thread's own code up to its next operation.
func (x *execution) advance(t *Thread) {
	t.next = operation{}
	t.timed, t.timedOut, t.due, t.granted = false, false, false, false
	t.resume()
	if !x.over {
		x.pend(t)
		x.arrive(t, false)
	}
}

// pend prepares the operation that t has reached: the state that its enabledness depends on.
func (x *execution) pend(t *Thread) {
	switch o := &t.next; o.op {
	case trace.OpCondWake:
		t.granted = false
		x.arrivals++
		t.arrival = x.arrivals
		if o.timed {
			t.timeOut(o.until)
		}
	case trace.OpBarrierLeave:
		t.granted = o.bar.round != t.round
	case trace.OpSleep:
		t.timeOut(o.until)
	}
}

// arrive is called when t has reached a scheduling point: a new operation, or again the one that it
// has not done yet.
func (x *execution) arrive(t *Thread, again bool) {
	t.looked = t.quiet
	t.quiet = false
	if !t.next.forced {
		t.stretches = 0
	}
	if x.count(t); !x.over {
		x.policy.arrive(t)
		if !again {
			x.holds.arrive(t)
		}
	}
}

// count counts a scheduling point of t, or the expiry of a timer.
func (x *execution) count(t *Thread) {
	x.points++
	x.time += abi.PointNs
	if x.points > x.budget {
		x.unfinished(t, trace.CutBySteps)
	}
}

// commit counts and records what t has done, and what follows from it for the policy. o is
// the operation, which is that of the event.
func (x *execution) commit(t *Thread, o *operation, e *trace.Event) {
	if e.Flags&trace.FlagNoDecision != 0 {
		if x.record && (x.accesses || o.op == trace.OpSignal) {
			x.events = append(x.events, *e)
		}
		return
	}
	if x.last != t {
		if x.last != nil {
			x.switches++
			if x.decision.Has(x.last.id) {
				x.preempts++
			}
		}
		x.last = t
		x.since = x.points
	}
	t.ran, t.acted = x.points, x.points
	e.Enabled = x.decision
	if x.record {
		x.events = append(x.events, *e)
	}
	x.policy.done(t, o)
}

// newThread creates a thread whose first operation is its start.
func (x *execution) newThread(parent *Thread, body func(*Thread)) *Thread {
	t := &Thread{x: x, id: trace.ThreadID(len(x.threads))}
	t.info = trace.Thread{ID: t.id, Parent: -1, Name: nameOfMain, Label: "main"}
	t.next = operation{op: trace.OpThreadStart}
	t.couldRun = true
	if parent != nil {
		parent.born++
		t.info.Parent, t.info.Nth, t.info.Label = parent.id, parent.born, ""
		t.info.Name = mix(parent.info.Name, uint64(parent.born))
	}
	x.threads = append(x.threads, t)
	x.policy.created(t)
	if body == nil {
		return t // a timer
	}
	x.policy.weigh(t, parent)
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(killed); !ok {
					panic(r)
				}
			}
		}()
		body(t)
		t.do(operation{op: trace.OpThreadEnd})
	})
	return t
}

// fail ends the execution.
func (x *execution) fail(t *Thread, kind trace.Kind, site trace.Site, message string) {
	x.over = true
	x.ending = trace.Ending{Kind: kind, Site: site, Message: message, Thread: t.id, Stack: []trace.Site{site}, Waiters: x.waiters()}
}

func (x *execution) global() trace.Object {
	x.globals += 64
	return trace.MakeObject(trace.RegionGlobal, 0, x.globals)
}

func (x *execution) heap() trace.Object {
	x.heaps += 64
	return trace.MakeObject(trace.RegionHeap, 0, x.heaps)
}

// trace is what was recorded.
func (x *execution) trace() *trace.Trace {
	h := x.target.Header()
	h.Points = slices.Clone(x.plan.Sites())
	h.ExpectStatus = x.plan.ExpectStatus
	h.FairAfter = x.fairAt
	if x.plan.Cut && (x.outcome.Cut || x.ending.Kind.Failed()) {
		h.Cut = x.plan.MaxSteps
	}
	t := &trace.Trace{
		Header: h, Modules: x.target.Modules(), Stacks: [][]trace.Site{nil},
		Allocs: x.allocs, Events: x.events, Ending: x.ending,
	}
	for _, thread := range x.threads {
		thread.info.Ended = thread.ended
		t.Threads = append(t.Threads, thread.info)
	}
	return t
}

// show shows a recording to a watcher.
func show(t *trace.Trace, w schedule.Watcher, skip int) {
	w.Begin(0)
	if skip > 0 {
		w.Unseen()
	}
	allocs := t.Allocs
	for i := range t.Events {
		for len(allocs) > 0 && allocs[0].Event <= i {
			w.Event(allocation(&allocs[0]))
			allocs = allocs[1:]
		}
		e := &t.Events[i]
		if e.Detail() && skip > 0 {
			skip--
			continue
		}
		w.Event(e)
	}
}

// allocation returns the event of an allocation.
func allocation(a *trace.Alloc) *trace.Event {
	return &trace.Event{Thread: a.Thread, Op: trace.OpMalloc, Site: a.Site, Object: a.Object, Size: uint32(a.Size), Flags: trace.FlagNoDecision, Stack: a.Stack}
}

// sparse leaves only scheduling points in a trace, and the lifetime of freed memory that was used, and adapts what was watched, if anything was.
func sparse(t *trace.Trace, w *schedule.Watched) {
	at := make([]int, len(t.Events)+1) // where each event goes
	kept, lifetime := []trace.Event(nil), t.Lifetime()
	for i, e := range t.Events {
		if at[i] = len(kept); !e.Detail() || lifetime(i) {
			kept = append(kept, e)
		}
	}
	at[len(t.Events)] = len(kept)
	for i := range t.Allocs {
		a := &t.Allocs[i]
		if a.Event = at[a.Event]; a.Freed >= 0 {
			a.Freed = at[a.Freed]
		}
	}
	if w != nil {
		for i := range w.Races {
			w.Races[i].Event = at[w.Races[i].Event]
		}
	}
	t.Events = kept
}

const nameOfMain = 0x6865646c652d6d31

// mix hashes words.
func mix(words ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range words {
		h ^= w
		h *= 0xff51afd7ed558ccd
		h ^= h >> 32
		h *= 0xc4ceb9fe1a85ec53
		h ^= h >> 29
	}
	return h
}
