package hb

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Engine follows one execution and determines, after each event, what happened before it.
//
// There is an edge from each operation on the left to the one on the right:
//
//	create                      the first event of the child
//	any event of a thread       a join of it that succeeded
//	mutex, spin unlock          a later lock, trylock, timedlock that took it
//	cond wait (its mutex)       likewise; and cond wake takes the mutex again, timed out or not
//	write unlock of a rwlock    a later read or write lock that took it
//	read unlock of a rwlock     a later write lock that took it
//	end of a robust mutex's owner  a later lock that took it ("owner died" is an unlock)
//	cancel                      the operation by which the thread acts on it (6)
//	cond signal                 the wake of the thread it woke
//	cond broadcast              the wakes of all that were waiting
//	sem post                    every later wait that took the semaphore (1)
//	barrier arrivals            the leaves of the same phase
//	once done                   a later once
//	futex wake                  the wake-ups of those that were waiting (2)
//	write, close, shutdown      a later read from the same pipe, socket or eventfd (5)
//	connect                     a later accept of the socket that listens
//	any of these, epoll_ctl     a later poll, select or epoll_wait that found something
//	atomic release              an acquire that reads from its release sequence (3)
//	go                          the first event of the goroutine
//	release, release merge      a later acquire of the object, until a release overwrites (4)
//
// A failed operation (a trylock that found the lock taken, a wait that timed out, a lost
// compare-and-swap) acquires and releases nothing, except that a lost compare-and-swap is a load.
// The init and destroy operations of an object discard its releases: the next object at that
// address is a different one.
//
// (1) A semaphore is a counter that posts and waits modify in turn, so a wait reads from the whole
// chain of posts before it. (2) If there were more waiters than a futex wake woke, its event does
// not identify those woken; all waiters that wake up later are then ordered after it, which can
// hide a race but never invents one. (3) C++20 [intro.races] and [atomics.fences]:
// read-modify-writes of any order continue a release sequence, any plain atomic store ends it;
// fences turn relaxed accesses around them into releases and acquires; seq_cst adds no edge beyond
// acquire and release, consume is acquire. Of atomics of different sizes that overlap, the later acquires
// what the earlier released to the bytes that both access. (4) These are the events with
// which Go's race detector describes the order of goroutines; a release acquire is an acquire and
// then a release. They share the location of the atomics at their address. Go's other operations,
// channels and mutexes among them, order nothing on their own. (5) As with semaphores, all earlier
// ones. Files order nothing. (6) The operation with the result ECANCELED. Such an operation
// otherwise did not happen, except that a condition wake still acquires its mutex.
//
// The zero Engine is not usable; see New. It is not safe for concurrent use.
type Engine struct {
	threads []*thread
	chains  chains
	state   ops.State
	objects []*object                  // by number
	told    map[trace.Object]*released // released by signals, by cancellations, and to descriptors
	atomics locations
	// volatiles are what volatile stores that are plain writes released.
	volatiles locations
	alive     int     // threads that have not ended
	sigfds    bool    // signals may end a poll without a handler
	lax       bool    // ForAccesses
	must      bool    // Necessary
	over      *thread // discard its clock after the latest event
}

// thread is the state of one thread.
type thread struct {
	id    trace.ThreadID
	clock Clock
	chain Chain // assigned before other threads need it (chains)
	named bool  // it has a chain
	ended bool
	// tick: the thread's last event released, so its next event begins a new time. The change
	// is delayed so that Epoch and Clock still describe the last event.
	tick bool
	// mixed: the thread learnt more after a release, within the same time. So covering that
	// time does not imply covering its next release.
	mixed bool
	// version counts the changes of clock by other threads.
	version int

	goroutine bool // created by a go statement

	woken   Clock    // clock of the thread that woke it, until its wake event
	phase   *phase   // of the barrier at which it waits
	acquire Clock    // read by its relaxed loads, for a later acquire fence
	release released // its clock at its last release fence
	fenced  bool     // it has executed a release fence
}

// ForAccesses returns an engine that is exact only for accesses to memory, atomic ones included.
// Other events count as happening with the thread's previous access. So what a thread does after
// its last unlock does not prevent its chain from being reused.
func ForAccesses() *Engine {
	e := New()
	e.lax = true
	return e
}

// Necessary returns an engine that follows only the edges that every execution with these operations
// has: thread creation and join, barriers, and once. A lock or a signal may come to other threads in
// another order. These are the vector time stamps of CTrigger (ASPLOS'09, §4.2.1), which has no once.
func Necessary() *Engine {
	e := New()
	e.must = true
	return e
}

func access(op trace.Op) bool {
	switch op.Class() {
	case trace.ClassRead, trace.ClassWrite, trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
		return true
	}
	return false
}

// New returns an engine at the start of an execution.
func New() *Engine {
	return &Engine{
		told:    map[trace.Object]*released{},
		atomics: locations{}, volatiles: locations{},
	}
}

// Epoch returns the epoch of thread t's latest event.
func (e *Engine) Epoch(t trace.ThreadID) Epoch { return e.epoch(e.thread(t)) }

// Clock returns the clock of thread t's latest event, that event included. It is valid until the
// next call of Event; the caller must not change it.
func (e *Engine) Clock(t trace.ThreadID) *Clock { return &e.named(e.thread(t)).clock }

// Before reports whether the event at p happened before thread t's latest event, or is that event.
func (e *Engine) Before(p Epoch, t trace.ThreadID) bool { return e.named(e.thread(t)).clock.Covers(p) }

// KnownCost returns the approximate number of steps that Known takes.
func (e *Engine) KnownCost() int { return len(e.threads) + e.alive*int(e.chains.n) }

// Announce adds thread t, which existed from the start and was created by no event of the
// execution. Only Known depends on such threads before their first event; the main thread is
// announced by its own first event.
func (e *Engine) Announce(t trace.ThreadID) { e.thread(t) }

// Known returns what every thread that can still act knows: an event whose epoch it covers happened
// before all future events.
func (e *Engine) Known() *Clock {
	known := &Clock{}
	first := true
	for _, t := range e.threads {
		switch {
		case t == nil || t.ended:
		case first:
			first = false
			known.set(&t.clock)
		default:
			known.meet(&t.clock)
		}
	}
	return known
}

func (e *Engine) thread(id trace.ThreadID) *thread {
	if int(id) < len(e.threads) {
		if t := e.threads[id]; t != nil {
			return t
		}
	}
	for len(e.threads) <= int(id) {
		e.threads = append(e.threads, nil)
	}
	t := &thread{id: id}
	e.alive++
	e.threads[id] = t
	return t
}

// named assigns a chain to the thread, before the thread publishes its clock or a caller needs its
// time, and returns the thread.
func (e *Engine) named(t *thread) *thread {
	if !t.named {
		t.named = true
		t.chain = e.chains.take(&t.clock)
	}
	return t
}

// epoch returns the epoch of the thread's latest event.
func (e *Engine) epoch(t *thread) Epoch {
	e.named(t)
	return MakeEpoch(t.chain, t.clock.Time(t.chain))
}

// learn joins a clock into the thread's own.
func (t *thread) learn(c *Clock) {
	if t.clock.Join(c) {
		t.learnt()
	}
}

func (t *thread) learnt() {
	t.version++
	t.mixed = t.mixed || t.tick
}

// take is learn for the clock released at an object.
func (t *thread) take(r *released) {
	if r.takenBy(&t.clock) {
		t.learnt()
	}
}

// leave publishes the thread's clock at an object.
func (e *Engine) leave(t *thread, r *released) {
	at := e.publishing(t)
	r.publish(&t.clock, at)
}

// publishing returns the epoch of t's clock, which other threads are about to receive; t's next
// event begins a new time. It returns 0 if t has done nothing that they could know, or if the epoch
// does not represent the whole clock.
func (e *Engine) publishing(t *thread) Epoch {
	if e.lax && !t.named {
		return 0
	}
	t.tick = true
	if t.mixed {
		return 0
	}
	return e.epoch(t)
}

// pass joins t's clock into other's; t then continues at a new time.
func (e *Engine) pass(t, other *thread) {
	e.publishing(t)
	other.learn(&t.clock)
}

// ends returns the thread's chain.
func (e *Engine) ends(t *thread) {
	if t.ended {
		return
	}
	t.ended = true
	e.alive--
	if t.named {
		e.chains.give(t.chain, t.clock.Time(t.chain))
	}
	if t.goroutine {
		e.over = t // detached: never joined
	}
}

// shed discards the clock of an ended thread except for its own time: the thread will never be
// joined.
func (t *thread) shed() {
	own := t.clock.Time(t.chain)
	if t.clock = (Clock{}); t.named {
		t.clock.Put(t.chain, own)
	}
}

// Arrive makes thread t's next event count as an access (ForAccesses). Until it is processed, Epoch is
// that event's, and Clock is what happened before it without what the event itself acquires.
func (e *Engine) Arrive(t trace.ThreadID) {
	if e.over != nil {
		e.over.shed()
		e.over = nil
	}
	e.arrive(e.thread(t))
}

// Newcomer returns a copy of what happened before thread t's next event if t has made no access yet, and
// otherwise nil. If that event acquires, Arrive had better come after it: t may then take over the chain
// of a thread that it acquires from.
func (e *Engine) Newcomer(id trace.ThreadID) *Clock {
	t := e.thread(id)
	if t.named {
		return nil
	}
	c := &Clock{}
	c.set(&t.clock)
	return c
}

// arrive begins a new time if the thread has released its clock. It comes before the thread publishes
// again, if the access is a release.
func (e *Engine) arrive(t *thread) {
	if !t.named {
		e.named(t)
	} else if t.tick {
		t.tick, t.mixed = false, false
		t.clock.Put(t.chain, t.clock.Time(t.chain)+1)
	}
}

// Event processes the next event of the execution. Thread ids and the values of create and join
// must be valid (trace.Validate).
func (e *Engine) Event(ev *trace.Event) {
	if e.over != nil {
		e.over.shed()
		e.over = nil
	}
	t := e.thread(ev.Thread)
	if !e.lax || access(ev.Op) {
		e.arrive(t)
	}
	does := ops.Does(ev.Op)
	if e.must {
		switch family := ops.Of(ev.Op).Of; {
		case does == ops.Create, does == ops.Finish, does == ops.Join && ev.Result == 0:
		case ev.Op < trace.OpGo && (family == ops.Barrier || family == ops.Once):
		default:
			return
		}
	}
	switch does {
	case ops.Read, ops.Write, ops.Free, ops.Allocate:
		// By far the most frequent case.
		if ev.Flags&trace.FlagVolatile != 0 && does == ops.Write {
			e.volatileStore(t, ev)
		}
	case ops.Create:
		if id, ok := ev.Child(); ok {
			child := e.thread(id)
			child.goroutine = ev.Op == trace.OpGo
			e.pass(t, child)
		}
	case ops.Join:
		switch ev.Result {
		case 0:
			other := e.thread(trace.ThreadID(ev.Value))
			t.learn(&other.clock)
			if other.ended {
				e.over = other
			}
		case ops.Cancelled:
			t.take(releasedAt(e.told, cancelOf(t.id)))
		}
	case ops.Finish:
		e.ends(t)
	case ops.AtomicRead, ops.AtomicWrite, ops.Exchange, ops.Compare, ops.Fence:
		e.atomic(t, ev)
	case ops.Observe, ops.Publish, ops.Merge, ops.Renew:
		e.goSync(t, ev)
	default:
		if ev.Op >= trace.OpGo {
			return // ordered by the race detector's events around it
		}
		if ev.Result == ops.Cancelled {
			t.take(releasedAt(e.told, cancelOf(t.id)))
		}
		switch spec := ops.Of(ev.Op); spec.Of {
		case ops.Signal, ops.Timer, ops.Thread, ops.Descriptor:
			e.tell(t, spec, ev)
		case ops.NoObject, ops.Process:
		case ops.Mutex:
			e.mutex(t, spec, ev)
		default:
			e.synchronise(t, ev)
		}
	}
}
