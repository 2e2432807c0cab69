package simprog

import (
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// execution is one run of a program under a plan.
type execution struct {
	target  *Target
	plan    schedule.Plan
	points  map[trace.Site]bool
	rand    *rand.Rand // of the scheduler
	threads []*Thread
	script  script
	policy  policy

	// programRand is the program's own source of random numbers.
	programRand *rand.Rand
	globals     uint64 // bytes
	heaps       uint64

	over    bool
	ending  trace.Ending
	last    *Thread // that did the last scheduling point
	outcome schedule.Outcome

	record   bool
	accesses bool
	events   []trace.Event
	allocs   []trace.Alloc
	output   []byte
}

func newExecution(t *Target, p schedule.Plan) *execution {
	x := &execution{
		target: t, plan: p, points: map[trace.Site]bool{},
		rand:        rand.New(rand.NewPCG(p.Seed, 1)),
		programRand: rand.New(rand.NewPCG(p.Seed, 2)),
		record:      p.Record, accesses: p.Record && (p.Accesses || p.Watcher != nil) && !t.program.Blind,
	}
	if !t.program.Blind {
		for _, s := range p.Points {
			x.points[s] = true
		}
	}
	x.script = newScript(p)
	x.policy = newPolicy(x)
	return x
}

// run executes the program to its end.
func (x *execution) run() schedule.Outcome {
	defer func() {
		for _, t := range x.threads {
			t.stop()
		}
	}()
	main := x.newThread(nil, func(t *Thread) {
		x.target.program.Main(t)
		t.do(operation{op: trace.OpProcessExit, site: trace.MakeSite(0, 1)})
	})
	main.began = true
	x.advance(main)
	for !x.over {
		x.step()
	}
	x.ending.Output = x.output
	o := &x.outcome
	o.Ending, o.Threads, o.Deviations = x.ending, len(x.threads), x.script.deviations
	if x.record {
		o.Trace = x.trace()
	}
	return *o
}

// step lets one thread do its next operation.
func (x *execution) step() {
	var enabled trace.ThreadSet
	var can, timed []*Thread
	for _, t := range x.threads {
		switch {
		case t.ended:
		case x.enabled(t):
			can = append(can, t)
			enabled.Add(t.id)
		case x.mayTimeOut(t):
			timed = append(timed, t)
		}
	}
	if len(can) == 0 && len(timed) == 0 {
		x.deadlock()
		return
	}
	if x.outcome.Points >= x.plan.MaxSteps {
		x.hang()
		return
	}
	t := x.choose(can, timed)
	if t == nil {
		return // diverged
	}
	flags := trace.Flags(0)
	if !enabled.Has(t.id) {
		flags = trace.FlagTimeout
	}
	if x.last != nil && x.last != t {
		x.outcome.Switches++
		if enabled.Has(x.last.id) {
			x.outcome.Preemptions++
		}
	}
	x.last = t
	x.outcome.Points++
	done := t.next
	x.perform(t, flags, enabled)
	x.policy.performed(t, done)
	if !x.over && !t.ended {
		x.advance(t)
	}
}

// choose asks the script, then the policy.
func (x *execution) choose(can, timed []*Thread) *Thread {
	if x.target.choose != nil && len(can) > 0 {
		return x.target.choose(can)
	}
	if x.plan.Mode != schedule.NoScript {
		if t, decided := x.script.choose(x, can, timed); decided {
			return t
		}
	}
	if x.plan.Timeouts || len(can) == 0 {
		can = append(can, timed...)
		slices.SortFunc(can, func(a, b *Thread) int { return int(a.id - b.id) })
	}
	return x.policy.choose(can)
}

// advance runs a thread's own code up to its next operation.
func (x *execution) advance(t *Thread) {
	t.next = operation{}
	t.resume()
	if !x.over {
		t.draw = x.rand.Uint64()
	}
}

// newThread makes a thread whose first operation is its start.
func (x *execution) newThread(parent *Thread, body func(*Thread)) *Thread {
	t := &Thread{x: x, id: trace.ThreadID(len(x.threads))}
	t.info = trace.Thread{ID: t.id, Parent: -1, Name: nameOfMain, Label: "main"}
	t.next = operation{op: trace.OpThreadStart}
	if parent != nil {
		parent.born++
		t.info.Parent, t.info.Nth, t.info.Label = parent.id, parent.born, ""
		t.info.Name = mix(parent.info.Name, uint64(parent.born))
	}
	t.draw = x.rand.Uint64()
	x.threads = append(x.threads, t)
	x.policy.created(t)
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
	h.Points = slices.Clone(x.plan.Points)
	h.ExpectStatus = x.plan.ExpectStatus
	t := &trace.Trace{
		Header: h, Modules: x.target.Modules(), Stacks: [][]trace.Site{nil},
		Allocs: x.allocs, Events: x.events, Ending: x.ending,
	}
	for _, thread := range x.threads {
		thread.info.Ended = thread.ended
		t.Threads = append(t.Threads, thread.info)
	}
	if w := x.plan.Watcher; w != nil {
		show(t, w, x.plan.SkipAccesses)
		if !x.plan.Accesses {
			sparse(t)
		}
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
			a := &allocs[0]
			w.Event(&trace.Event{Thread: a.Thread, Op: trace.OpMalloc, Site: a.Site, Object: a.Object, Size: uint32(a.Size), Flags: trace.FlagNoChoice, Stack: a.Stack})
			allocs = allocs[1:]
		}
		e := &t.Events[i]
		if extra(e) && skip > 0 {
			skip--
			continue
		}
		w.Event(e)
	}
}

// extra reports whether an event is part of the trace only if all accesses are.
func extra(e *trace.Event) bool {
	return e.Flags&trace.FlagNoChoice != 0 && (e.Op.IsAccess() || e.Op == trace.OpMalloc)
}

// sparse leaves only scheduling points in a trace.
func sparse(t *trace.Trace) {
	at := make([]int, len(t.Events)+1) // where each event goes
	kept := t.Events[:0]
	for i, e := range t.Events {
		if at[i] = len(kept); !extra(&e) {
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
