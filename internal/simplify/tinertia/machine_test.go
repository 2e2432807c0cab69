package tinertia

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A small concurrent machine: programs of a few instructions, executed under plans as a
// target does, with the tolerances of FSE'10 §4.2.1. One instruction is one operation.

type kind int

const (
	kWrite     kind = iota // variable a = b
	kLoad                  // register = variable a
	kStore                 // variable a = register + b
	kIf                    // continue if variable a is b (not: isn't b), otherwise to
	kGoto                  // no operation
	kFail                  // failed assertion
	kCrash                 // write that ends in a signal, which is not a scheduling decision
	kLock                  // a
	kUnlock                // a
	kWait                  // on condition a, with mutex b: two operations
	kSignal                // condition a
	kBroadcast             // condition a
	kSemWait               // a
	kSemPost               // a
	kCreate                // a thread of function a
	kJoin                  // the a-th thread it created
	kSleep                 // lets others run, stays enabled
	kExit                  // ends the process
	kMalloc                // recorded, not a scheduling point; happens with the operation before it
)

type instr struct {
	kind kind
	a, b int
	not  bool
	to   int
}

// program consists of functions, and the threads that exist from the start.
type program struct {
	funcs [][]instr
	start []int // functions of the initial threads
	life  bool  // threads have start and end operations
	vars  int
	locks int
	conds int
	sems  []int
	// patience is how many sleeps a thread may perform off its script before it counts as
	// livelocked and the next TEI begins.
	patience int
}

const (
	fresh = iota // before its start operation
	running
	waiting // in a condition's queue
	woken   // removed from the queue, must reacquire the mutex
	ending  // before its end operation
	ended
)

type thread struct {
	fn, pc, reg int
	state       int
	parent, nth int
	name        uint64
	children    []int
}

type state struct {
	vars, owner, sems []int
	queue             [][]int
	threads           []thread
	end               *trace.Ending
}

func (p *program) initial() *state {
	s := &state{vars: make([]int, p.vars), owner: make([]int, p.locks), sems: slices.Clone(p.sems), queue: make([][]int, p.conds)}
	for i := range s.owner {
		s.owner[i] = -1
	}
	for i, fn := range p.start {
		p.spawn(s, fn, -1, i)
	}
	p.checkEnd(s)
	return s
}

func (p *program) spawn(s *state, fn, parent, nth int) int {
	name := uint64(nth) + 0x6865
	if parent >= 0 {
		name = s.threads[parent].name*1_000_003 + uint64(nth)
	}
	t := thread{fn: fn, parent: parent, nth: nth, name: name, state: fresh}
	if !p.life {
		t.state = running
	}
	s.threads = append(s.threads, t)
	id := len(s.threads) - 1
	p.settle(s, id)
	return id
}

// settle follows jumps and detects the end of a function.
func (p *program) settle(s *state, id int) {
	t := &s.threads[id]
	if t.state == fresh {
		return
	}
	code := p.funcs[t.fn]
	for t.pc < len(code) && code[t.pc].kind == kGoto {
		t.pc = code[t.pc].to
	}
	if t.pc >= len(code) && t.state == running {
		t.state = ending
		if !p.life {
			t.state = ended
		}
	}
}

func (s *state) clone() *state {
	c := &state{vars: slices.Clone(s.vars), owner: slices.Clone(s.owner), sems: slices.Clone(s.sems), threads: slices.Clone(s.threads), end: s.end}
	c.queue = make([][]int, len(s.queue))
	for i := range s.queue {
		c.queue[i] = slices.Clone(s.queue[i])
	}
	for i := range c.threads {
		c.threads[i].children = slices.Clone(s.threads[i].children)
	}
	return c
}

// key returns equal strings for equal states. Numbers are small: one byte each.
func (s *state) key() string {
	var k []byte
	add := func(n int) { k = append(k, byte(n)) }
	for _, list := range [][]int{s.vars, s.owner, s.sems} {
		for _, n := range list {
			add(n)
		}
	}
	for _, q := range s.queue {
		add(len(q))
		for _, n := range q {
			add(n)
		}
	}
	for i := range s.threads {
		t := &s.threads[i]
		add(t.fn)
		add(t.pc)
		add(t.reg)
		add(t.state)
		add(t.parent)
		add(t.nth)
	}
	return string(k)
}

// pending returns a thread's pending operation.
func (p *program) pending(s *state, id int) (trace.Op, trace.Site, bool) {
	t := &s.threads[id]
	site := func(pc int) trace.Site { return trace.MakeSite(0, uint64(t.fn+1)<<12|uint64(pc)) }
	switch t.state {
	case fresh:
		return trace.OpThreadStart, site(0xffe), true
	case ending:
		return trace.OpThreadEnd, site(0xfff), true
	case ended:
		return 0, 0, false
	}
	i := p.funcs[t.fn][t.pc]
	switch t.state {
	case waiting:
		return trace.OpCondWake, site(t.pc), false
	case woken:
		return trace.OpCondWake, site(t.pc), s.owner[i.b] < 0
	}
	op, enabled := trace.OpNone, true
	switch i.kind {
	case kWrite, kStore, kCrash:
		op = trace.OpWrite
	case kLoad, kIf:
		op = trace.OpRead
	case kFail:
		op = trace.OpAbort
	case kLock:
		op, enabled = trace.OpMutexLock, s.owner[i.a] < 0
	case kUnlock:
		op = trace.OpMutexUnlock
	case kWait:
		op = trace.OpCondWait
	case kSignal:
		op = trace.OpCondSignal
	case kBroadcast:
		op = trace.OpCondBroadcast
	case kSemWait:
		op, enabled = trace.OpSemWait, s.sems[i.a] > 0
	case kSemPost:
		op = trace.OpSemPost
	case kCreate:
		op = trace.OpThreadCreate
	case kJoin:
		op, enabled = trace.OpThreadJoin, i.a < len(t.children) && s.threads[t.children[i.a]].state == ended
	case kSleep:
		op = trace.OpSleep
	case kExit:
		op = trace.OpProcessExit
	case kMalloc:
		op = trace.OpMalloc
	default:
		panic("no such instruction")
	}
	return op, site(t.pc), enabled
}

func (p *program) enabled(s *state) trace.ThreadSet {
	var set trace.ThreadSet
	for id := range s.threads {
		if _, _, ok := p.pending(s, id); ok {
			set.Add(trace.ThreadID(id))
		}
	}
	return set
}

// step performs a thread's pending operation. wake is the waiter that a signal wakes, -1 for the
// first. It returns the events, of which the first is the decision.
func (p *program) step(s *state, id, wake int) []trace.Event {
	op, site, ok := p.pending(s, id)
	if !ok {
		panic(fmt.Sprintf("thread %d cannot run", id))
	}
	e := trace.Event{Thread: trace.ThreadID(id), Op: op, Site: site, Enabled: p.enabled(s)}
	t := &s.threads[id]
	if t.state == running || t.state == woken {
		i := p.funcs[t.fn][t.pc]
		switch i.kind {
		case kWrite, kLoad, kStore, kIf, kCrash:
			e.Object, e.Size = trace.MakeObject(trace.RegionGlobal, 0, 0x1000+8*uint64(i.a)), 8
		case kLock, kUnlock:
			e.Object = trace.MakeObject(trace.RegionGlobal, 0, 0x2000+8*uint64(i.a))
		case kWait:
			e.Object = trace.MakeObject(trace.RegionGlobal, 0, 0x3000+8*uint64(i.a))
			e.Aux = uint64(trace.MakeObject(trace.RegionGlobal, 0, 0x2000+8*uint64(i.b)))
		case kSignal, kBroadcast:
			e.Object = trace.MakeObject(trace.RegionGlobal, 0, 0x3000+8*uint64(i.a))
		case kSemWait, kSemPost:
			e.Object = trace.MakeObject(trace.RegionGlobal, 0, 0x4000+8*uint64(i.a))
		}
	}
	fail := func(k trace.Kind) {
		s.end = &trace.Ending{Kind: k, Thread: trace.ThreadID(id), Site: site}
	}
	out := []trace.Event{e}
	var i instr
	switch t.state {
	case fresh:
		t.state = running
	case ending:
		t.state = ended
	case woken:
		i = p.funcs[t.fn][t.pc]
		s.owner[i.b] = id
		t.state = running
		t.pc++
	default:
		i = p.funcs[t.fn][t.pc]
		next := t.pc + 1
		switch i.kind {
		case kWrite:
			s.vars[i.a] = i.b
		case kLoad:
			t.reg = s.vars[i.a]
		case kStore:
			s.vars[i.a] = t.reg + i.b
		case kIf:
			if (s.vars[i.a] == i.b) == i.not {
				next = i.to
			}
		case kFail:
			fail(trace.Assertion)
		case kCrash:
			fail(trace.Signal)
			s.end.Status = 11
			out = append(out, trace.Event{Thread: e.Thread, Op: trace.OpSignal, Site: site, Value: 11, Flags: trace.FlagNoDecision, Enabled: e.Enabled})
		case kLock:
			s.owner[i.a] = id
		case kUnlock:
			if s.owner[i.a] != id {
				fail(trace.Misuse)
			}
			s.owner[i.a] = -1
		case kWait:
			if s.owner[i.b] != id {
				fail(trace.Misuse)
			}
			s.owner[i.b] = -1
			s.queue[i.a] = append(s.queue[i.a], id)
			t.state = waiting
			next = t.pc
		case kSignal:
			if q := s.queue[i.a]; len(q) > 0 {
				at := max(0, slices.Index(q, wake))
				w := q[at]
				s.queue[i.a] = slices.Delete(slices.Clone(q), at, at+1)
				s.threads[w].state = woken
				out[0].Value = uint64(w) + 1
			}
		case kBroadcast:
			out[0].Value = uint64(len(s.queue[i.a]))
			for _, w := range s.queue[i.a] {
				s.threads[w].state = woken
			}
			s.queue[i.a] = nil
		case kSemWait:
			s.sems[i.a]--
		case kSemPost:
			s.sems[i.a]++
		case kCreate:
			child := p.spawn(s, i.a, id, len(t.children)+1)
			t = &s.threads[id] // spawn may have moved it
			t.children = append(t.children, child)
			out[0].Value = uint64(child)
		case kJoin:
			out[0].Value = uint64(t.children[i.a])
		case kExit:
			s.end = &trace.Ending{Kind: trace.Clean, Thread: trace.ThreadID(id)}
		}
		t.pc = next
	}
	p.settle(s, id)
	for s.end == nil && t.state == running && p.funcs[t.fn][t.pc].kind == kMalloc {
		_, site, _ := p.pending(s, id)
		out = append(out, trace.Event{Thread: e.Thread, Op: trace.OpMalloc, Site: site, Size: 8, Flags: trace.FlagNoDecision, Enabled: e.Enabled})
		t.pc++
		p.settle(s, id)
	}
	if s.end == nil {
		p.checkEnd(s)
	}
	return out
}

// checkEnd ends an execution in which no thread is enabled.
func (p *program) checkEnd(s *state) {
	if p.enabled(s).Len() > 0 {
		return
	}
	end := &trace.Ending{Kind: trace.Clean}
	for id := range s.threads {
		if s.threads[id].state != ended {
			op, site, _ := p.pending(s, id)
			end.Kind = trace.Deadlock
			end.Waiters = append(end.Waiters, trace.Waiter{Thread: trace.ThreadID(id), Op: op, Site: site, Holder: -1})
		}
	}
	s.end = end
}

// sameBug compares endings as a finding does: by what failed and where, not by when.
func sameBug(want trace.Ending) func(trace.Ending) bool {
	at := func(e trace.Ending) string {
		var w []string
		for _, x := range e.Waiters {
			w = append(w, fmt.Sprint(x.Op, x.Site))
		}
		slices.Sort(w)
		return fmt.Sprint(e.Kind, e.Site, w)
	}
	id := at(want)
	return func(e trace.Ending) bool { return at(e) == id }
}

const (
	stepBudget  = 2000
	spinBudget  = 40 // operations in a row before the fair scheduler takes turns
	detourLimit = 40 // operations off the script before a thread counts as livelocked
)

// run is a schedule.Executor.
func (p *program) run(_ context.Context, plan schedule.Plan) (schedule.Outcome, error) {
	r := &run{p: p, s: p.initial(), rng: rand.New(rand.NewPCG(plan.Seed, 7)), budget: plan.MaxSteps}
	if r.budget == 0 {
		r.budget = stepBudget
	}
	if plan.Mode == schedule.Tolerant {
		r.tolerant(plan)
	}
	switch plan.Policy {
	case schedule.Fair:
		r.fair()
	case schedule.Random:
		r.random(plan.Stay)
	default:
		panic("no such policy")
	}
	t := &trace.Trace{Events: r.events, Ending: *r.s.end}
	for id, th := range r.s.threads {
		t.Threads = append(t.Threads, trace.Thread{ID: trace.ThreadID(id), Parent: trace.ThreadID(th.parent), Nth: th.nth, Name: th.name, Ended: th.state == ended})
	}
	c := trace.CostOf(choices(t.Events))
	return schedule.Outcome{Ending: t.Ending, Points: c.Events, Switches: c.Switches, Preemptions: c.Preemptions,
		Threads: len(t.Threads), Deviations: r.deviations, Trace: t}, nil
}

type run struct {
	p          *program
	s          *state
	rng        *rand.Rand
	budget     int
	events     []trace.Event
	last       int // thread of the last event
	row        int // its operations in a row
	deviations int
}

func (r *run) over() bool { return r.s.end != nil }

// do performs a thread's pending operation and returns it.
func (r *run) do(id, wake int) trace.Op {
	op, _, _ := r.p.pending(r.s, id)
	if op == trace.OpCondSignal {
		if q := r.s.queue[r.p.funcs[r.s.threads[id].fn][r.s.threads[id].pc].a]; len(q) > 0 && !slices.Contains(q, wake) {
			wake = q[r.rng.IntN(len(q))]
		}
	}
	if id == r.last {
		r.row++
	} else {
		r.last, r.row = id, 1
	}
	r.events = append(r.events, r.p.step(r.s, id, wake)...)
	if r.s.end == nil && len(r.events) >= r.budget {
		r.s.end = &trace.Ending{Kind: trace.Hang}
	}
	return op
}

func (r *run) can(id int) bool {
	_, _, ok := r.p.pending(r.s, id)
	return ok
}

// tolerant follows a script TEI by TEI (FSE'10 §4.2.1).
func (r *run) tolerant(plan schedule.Plan) {
	byName := func(t trace.ThreadID) int {
		return slices.IndexFunc(r.s.threads, func(x thread) bool { return x.name == plan.Threads[t].Name })
	}
	for i := 0; i < len(plan.Script) && !r.over(); {
		j := i
		for j < len(plan.Script) && plan.Script[j].Thread == plan.Script[i].Thread {
			j++
		}
		tei := plan.Script[i:j]
		i = j
		id := byName(tei[0].Thread)
		detour, sleeps := 0, 0
		for k := 0; k < len(tei) && !r.over(); {
			if id < 0 || !r.can(id) {
				r.deviations += len(tei) - k
				break
			}
			op, site, _ := r.p.pending(r.s, id)
			at := slices.IndexFunc(tei[k:], func(s schedule.Step) bool { return s.Op == op && s.Site == site })
			if at >= 0 {
				r.deviations += at
				k += at
				wake := -1
				if tei[k].Wake >= 0 {
					wake = byName(tei[k].Wake)
				}
				r.do(id, wake)
				k++
				continue
			}
			r.do(id, -1)
			r.deviations++
			if op == trace.OpSleep {
				if sleeps++; sleeps > r.p.patience {
					break
				}
			}
			if detour++; detour > detourLimit {
				break
			}
		}
	}
}

// fair is non-preemptive, and round robin when a thread blocks, sleeps or runs for too long.
func (r *run) fair() {
	yield := false
	for !r.over() {
		id := r.last
		if yield || !r.can(id) || r.row >= spinBudget {
			for k := 1; k <= len(r.s.threads); k++ {
				if o := (r.last + k) % len(r.s.threads); r.can(o) {
					id = o
					break
				}
			}
			if id == r.last {
				r.row = 0
			}
		}
		yield = r.do(id, -1) == trace.OpSleep
	}
}

func (r *run) random(stay float64) {
	for !r.over() {
		if r.can(r.last) && r.rng.Float64() < stay {
			r.do(r.last, -1)
			continue
		}
		var can []int
		for id := range r.s.threads {
			if r.can(id) {
				can = append(can, id)
			}
		}
		r.do(can[r.rng.IntN(len(can))], -1)
	}
}

// record returns an execution under a random schedule, as find would record it.
func (p *program) record(seed uint64, stay float64) *trace.Trace {
	out, _ := p.run(context.Background(), schedule.Plan{Seed: seed, Policy: schedule.Random, Stay: stay, Record: true})
	return out.Trace
}

// scripted returns the execution in which threads take the given turns.
func (p *program) scripted(turns ...int) *trace.Trace {
	r := &run{p: p, s: p.initial(), rng: rand.New(rand.NewPCG(0, 7)), budget: stepBudget}
	for _, id := range turns {
		if r.over() {
			panic("the turns go on past the end")
		}
		r.do(id, -1)
	}
	if !r.over() {
		panic("the turns do not lead to an end")
	}
	t := &trace.Trace{Events: r.events, Ending: *r.s.end}
	for id, th := range r.s.threads {
		t.Threads = append(t.Threads, trace.Thread{ID: trace.ThreadID(id), Parent: trace.ThreadID(th.parent), Nth: th.nth, Name: th.name})
	}
	return t
}
