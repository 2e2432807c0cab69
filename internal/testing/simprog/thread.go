package simprog

import (
	"runtime"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// Thread is a thread of a simulated program, and the program's access to the machine. Its
// methods must be called from the thread's own function.
type Thread struct {
	x      *execution
	id     trace.ThreadID
	info   trace.Thread
	born   int // children created
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	at     trace.Site // of the next operation, if it is not 0
	next   operation  // its pending operation
	result int64      // of its last operation
	child  *Thread    // that it created last
	began  bool
	ended  bool
	joined bool
	steps  uint64 // operations done, for trace signature

	// The pending operation.
	granted  bool     // another thread ended its wait
	timed    bool     // its wait has a deadline, which has not passed
	timedOut bool     // the deadline has been used
	due      bool     // a condition wait: the deadline has passed
	deadline int64    // virtual ns
	arrival  int      // at the condition, in order
	round    int      // of the barrier
	detour   trace.Op // what it does before its operation, once chosen; OpNone for nothing
	couldRun bool     // it was enabled when that was last looked at

	// For the policies.
	timer    bool // a timer rather than a thread; it runs no code
	priority int64
	ran      int // points when it last did an operation, or became enabled
	acted    int // points when it last did an operation, or was created

	holding holding

	// What it does but wait.
	seen         map[observation]int64
	stale        int // fruitless observations in a row
	idle, futile int // of those since progressAt was idleAt
	idleAt       int
	wrote        bool     // plainly, since its last observation
	quiet        bool     // it has done plain accesses since its last scheduling point
	looked       bool     // it had, at its last scheduling point
	stretches    int      // quiet ones since its last scheduling point, forced yields not counted
	yieldAt      int      // of those, at which it yields if it still computes
	yields       int      // of its computations so far, at most abi.StretchesMore
	left         uint64   // under WALK: interesting events that it and the threads that it will create have left
	computes     bool     // its pending operation is such a yield
	before       trace.Op // its last operation at a scheduling point, and where that was
	beforeAt     trace.Site
}

// operation is one operation that a thread is about to do.
type operation struct {
	op    trace.Op
	site  trace.Site
	word  *Word
	lock  *Mutex
	cond  *Cond
	sem   *Sem
	bar   *Barrier
	rw    *RWLock
	once  *Once
	other *Thread
	body  func(*Thread)
	value int64
	old   int64 // compare-and-swap
	timed bool
	until int64 // timed waits and sleeps: the virtual time at which they are over
	// text is that of an abort; thrown: an exception caused it.
	text   string
	thrown bool
	try    bool // a join that does not wait
	// exchange makes an atomic read-modify-write store the value instead of adding it.
	exchange bool
	forced   bool // a yield that the machine put in
}

// object is what the operation is about, nil for nothing.
func (o *operation) object() any {
	switch {
	case o.cond != nil:
		return o.cond
	case o.lock != nil:
		return o.lock
	case o.word != nil:
		return o.word
	case o.sem != nil:
		return o.sem
	case o.bar != nil:
		return o.bar
	case o.rw != nil:
		return o.rw
	case o.once != nil:
		return o.once
	case o.other != nil:
		return o.other
	}
	return nil
}

// reads reports whether the operation only reads its object.
func (o *operation) reads() bool { return o.op == trace.OpRead || o.op == trace.OpAtomicLoad }

// killed unwinds a thread's function when its execution is over.
type killed struct{}

// At sets the next operation's site, instead of the place where its method is called: for programs
// that are interpreted.
func (t *Thread) At(s trace.Site) *Thread {
	t.at = s
	return t
}

// site is where the program called the method that called it.
func (t *Thread) site() trace.Site {
	if s := t.at; s != 0 {
		t.at = 0
		return s
	}
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return trace.MakeSite(0, uint64(pc[0]))
}

// do lets the scheduler choose when to do the operation, and returns its result.
func (t *Thread) do(o operation) int64 {
	t.next = o
	t.pause()
	return t.result
}

// pause hands control to the machine until the thread is chosen.
func (t *Thread) pause() {
	if !t.yield(struct{}{}) {
		panic(killed{})
	}
}

// access does a plain access: at once, unless its instruction is a scheduling point.
func (t *Thread) access(o operation) int64 {
	t.wrote = t.wrote || o.op == trace.OpWrite
	if t.x.sites[o.site] {
		return t.do(o)
	}
	t.quiet = true
	t.next = o
	t.x.perform(t, trace.FlagNoDecision)
	if t.x.over {
		t.pause()
	}
	return t.result
}

// Word is a shared variable of 8 bytes.
type Word struct {
	object trace.Object
	value  int64
	freed  bool
	alloc  int // index into allocs, for heap words
	cover  history
}

// Var makes a global variable. As all objects it is named by the order of creation, so a
// program creates them before it creates threads.
func (t *Thread) Var(value int64) *Word {
	return &Word{object: t.x.global(), value: value}
}

// New allocates a variable on the heap: OpMalloc, no scheduling point.
func (t *Thread) New(value int64) *Word {
	w := &Word{object: t.x.heap(), value: value}
	t.next = operation{op: trace.OpMalloc, site: t.site(), word: w}
	t.x.perform(t, trace.FlagNoDecision)
	return w
}

// Free frees a variable made by New. Using it afterwards is misuse.
func (t *Thread) Free(w *Word) { t.access(operation{op: trace.OpFree, site: t.site(), word: w}) }

// Read is a plain read.
func (t *Thread) Read(w *Word) int64 {
	return t.access(operation{op: trace.OpRead, site: t.site(), word: w})
}

// Write is a plain write.
func (t *Thread) Write(w *Word, value int64) {
	t.access(operation{op: trace.OpWrite, site: t.site(), word: w, value: value})
}

// Load is an atomic load; like all atomics here it is sequentially consistent.
func (t *Thread) Load(w *Word) int64 {
	return t.do(operation{op: trace.OpAtomicLoad, site: t.site(), word: w})
}

// Store is an atomic store.
func (t *Thread) Store(w *Word, value int64) {
	t.do(operation{op: trace.OpAtomicStore, site: t.site(), word: w, value: value})
}

// Add is an atomic addition; it returns the new value.
func (t *Thread) Add(w *Word, delta int64) int64 {
	return t.do(operation{op: trace.OpAtomicRmw, site: t.site(), word: w, value: delta})
}

// Exchange is an atomic exchange; it returns the old value.
func (t *Thread) Exchange(w *Word, value int64) int64 {
	return t.do(operation{op: trace.OpAtomicRmw, site: t.site(), word: w, value: value, exchange: true})
}

// CompareAndSwap is an atomic compare-and-swap and reports whether it swapped.
func (t *Thread) CompareAndSwap(w *Word, old, value int64) bool {
	return t.do(operation{op: trace.OpAtomicCas, site: t.site(), word: w, old: old, value: value}) != 0
}

// Mutex is a lock that is not recursive.
type Mutex struct {
	object trace.Object
	holder *Thread
	cover  history
}

// Mutex makes a lock.
func (t *Thread) Mutex() *Mutex { return &Mutex{object: t.x.global()} }

// Lock waits for the lock and acquires it.
func (t *Thread) Lock(m *Mutex) { t.do(operation{op: trace.OpMutexLock, site: t.site(), lock: m}) }

// TryLock acquires the lock if it is free and reports whether it did.
func (t *Thread) TryLock(m *Mutex) bool {
	return t.do(operation{op: trace.OpMutexTrylock, site: t.site(), lock: m}) == 0
}

// Unlock releases the lock. It is misuse if the thread does not hold it.
func (t *Thread) Unlock(m *Mutex) { t.do(operation{op: trace.OpMutexUnlock, site: t.site(), lock: m}) }

// Cond is a condition variable.
type Cond struct {
	object trace.Object
	cover  history
}

// Cond makes a condition variable.
func (t *Thread) Cond() *Cond { return &Cond{object: t.x.global()} }

// Wait releases the lock, waits for a signal, and reacquires the lock: two operations.
func (t *Thread) Wait(c *Cond, m *Mutex) { t.wait(c, m, 0, t.site()) }

// TimedWait is Wait for a millisecond at most; it reports whether the thread was woken
// before.
func (t *Thread) TimedWait(c *Cond, m *Mutex) bool { return t.waitFor(c, m, 1e6, t.site()) }

// WaitFor is Wait with a limit in virtual ns.
func (t *Thread) WaitFor(c *Cond, m *Mutex, ns int64) bool { return t.waitFor(c, m, ns, t.site()) }

func (t *Thread) waitFor(c *Cond, m *Mutex, ns int64, at trace.Site) bool {
	return t.wait(c, m, t.Now()+ns, at) == 0
}

func (t *Thread) wait(c *Cond, m *Mutex, until int64, at trace.Site) int64 {
	t.do(operation{op: trace.OpCondWait, site: at, cond: c, lock: m})
	return t.do(operation{op: trace.OpCondWake, site: at, cond: c, lock: m, timed: until != 0, until: until})
}

// Now reads the clock, which takes a little time.
func (t *Thread) Now() int64 {
	t.x.time += abi.ClockNs
	return t.x.time
}

// Sleep waits until some virtual ns have passed.
func (t *Thread) Sleep(ns int64) {
	t.do(operation{op: trace.OpSleep, site: t.site(), value: ns, until: t.x.time + max(ns, shortestSleep)})
}

// Timer sets a timer that expires once, after some virtual ns, and notifies no thread.
func (t *Thread) Timer(ns int64) {
	at := t.site()
	t.do(operation{op: trace.OpThreadCreate, site: at})
	t.do(operation{op: trace.OpTimerSet, site: at, other: t.child, value: ns})
}

// Step does an operation that changes nothing.
func (t *Thread) Step(op trace.Op) { t.do(operation{op: op, site: t.site()}) }

// Signal wakes one thread that waits.
func (t *Thread) Signal(c *Cond) { t.do(operation{op: trace.OpCondSignal, site: t.site(), cond: c}) }

// Broadcast wakes all threads that wait.
func (t *Thread) Broadcast(c *Cond) {
	t.do(operation{op: trace.OpCondBroadcast, site: t.site(), cond: c})
}

// Sem is a counting semaphore.
type Sem struct {
	object trace.Object
	count  int64
	cover  history
}

// Sem makes a semaphore.
func (t *Thread) Sem(count int64) *Sem { return &Sem{object: t.x.global(), count: count} }

// Down waits until the count is positive and lowers it.
func (t *Thread) Down(s *Sem) { t.do(operation{op: trace.OpSemWait, site: t.site(), sem: s}) }

// Up raises the count.
func (t *Thread) Up(s *Sem) { t.do(operation{op: trace.OpSemPost, site: t.site(), sem: s}) }

// TryDown lowers the count if it is positive, and reports whether it was.
func (t *Thread) TryDown(s *Sem) bool {
	return t.do(operation{op: trace.OpSemTrywait, site: t.site(), sem: s}) == 0
}

// Count returns the count.
func (t *Thread) Count(s *Sem) int64 {
	return t.do(operation{op: trace.OpSemGetvalue, site: t.site(), sem: s})
}

// RWLock is a reader-writer lock that lets readers in while a writer waits.
type RWLock struct {
	object  trace.Object
	writer  *Thread
	readers []*Thread
	cover   history
}

func (l *RWLock) free() bool { return l.writer == nil && len(l.readers) == 0 }

// RWLock makes a reader-writer lock.
func (t *Thread) RWLock() *RWLock { return &RWLock{object: t.x.global()} }

// ReadLock waits until no thread writes, and acquires the lock to read.
func (t *Thread) ReadLock(l *RWLock) {
	t.do(operation{op: trace.OpRwlockRdlock, site: t.site(), rw: l})
}

// TryReadLock acquires the lock to read if no thread writes, and reports whether it did.
func (t *Thread) TryReadLock(l *RWLock) bool {
	return t.do(operation{op: trace.OpRwlockTryrdlock, site: t.site(), rw: l}) == 0
}

// WriteLock waits until no thread has the lock, and acquires it to write.
func (t *Thread) WriteLock(l *RWLock) {
	t.do(operation{op: trace.OpRwlockWrlock, site: t.site(), rw: l})
}

// TryWriteLock acquires the lock to write if no thread has it, and reports whether it did.
func (t *Thread) TryWriteLock(l *RWLock) bool {
	return t.do(operation{op: trace.OpRwlockTrywrlock, site: t.site(), rw: l}) == 0
}

// RWUnlock releases the lock. It is misuse if the thread does not hold it.
func (t *Thread) RWUnlock(l *RWLock) {
	t.do(operation{op: trace.OpRwlockUnlock, site: t.site(), rw: l})
}

// Once runs an initialisation the first time.
type Once struct {
	object trace.Object
	runs   *Thread
	done   bool
	cover  history
}

// Once makes a once.
func (t *Thread) Once() *Once { return &Once{object: t.x.global()} }

// Do runs body unless it was run before, and waits while another thread runs it: two operations if it
// runs it.
func (t *Thread) Do(o *Once, body func()) {
	at := t.site()
	if t.do(operation{op: trace.OpOnceBegin, site: at, once: o}) != 0 {
		body()
		t.do(operation{op: trace.OpOnceEnd, site: at, once: o})
	}
}

// Barrier releases its threads when a number of them has arrived.
type Barrier struct {
	object  trace.Object
	size    int
	arrived int
	round   int
	cover   history
}

// Barrier makes a barrier for size threads.
func (t *Thread) Barrier(size int) *Barrier {
	return &Barrier{object: t.x.global(), size: size}
}

// Arrive waits at the barrier, in two operations, and reports whether the thread was the last to arrive.
func (t *Thread) Arrive(b *Barrier) bool {
	at := t.site()
	last := t.do(operation{op: trace.OpBarrierWait, site: at, bar: b}) != 0
	t.do(operation{op: trace.OpBarrierLeave, site: at, bar: b})
	return last
}

// Go creates a thread.
func (t *Thread) Go(body func(*Thread)) *Thread {
	t.do(operation{op: trace.OpThreadCreate, site: t.site(), body: body})
	return t.child
}

// Join waits for a thread to end. Joining it twice is misuse.
func (t *Thread) Join(other *Thread) {
	t.do(operation{op: trace.OpThreadJoin, site: t.site(), other: other})
}

// TryJoin joins a thread if it has ended, and reports whether it did.
func (t *Thread) TryJoin(other *Thread) bool {
	return t.do(operation{op: trace.OpThreadJoin, site: t.site(), other: other, try: true}) == 0
}

// Yield lets others run first.
func (t *Thread) Yield() { t.do(operation{op: trace.OpYield, site: t.site()}) }

// Assert ends the execution with a failed assertion unless ok.
func (t *Thread) Assert(ok bool, text string) {
	if !ok {
		t.do(operation{op: trace.OpAbort, site: t.site(), text: text})
	}
}

// Exit ends the program. Returning from the main function is Exit(0).
func (t *Thread) Exit(status int) {
	t.do(operation{op: trace.OpProcessExit, site: t.site(), value: int64(status)})
}

// Crash ends the execution with a fatal signal, at once: it is not a scheduling point.
func (t *Thread) Crash(signal int) {
	t.next = operation{op: trace.OpSignal, site: t.site(), value: int64(signal)}
	t.x.perform(t, trace.FlagNoDecision)
	t.pause()
}

// Throw ends the execution with an uncaught exception.
func (t *Thread) Throw(exception string) {
	t.do(operation{op: trace.OpAbort, site: t.site(), text: exception, thrown: true})
}

// Unsupported does something that heddle cannot carry.
func (t *Thread) Unsupported(what string) {
	t.x.fail(t, trace.Unsupported, t.site(), what)
	t.pause()
}

// Print writes to the program's output.
func (t *Thread) Print(text string) { t.x.output = append(t.x.output, text...) }

// Rand draws a random number, the same ones for the same schedule.Plan.Seed.
func (t *Thread) Rand() uint64 { return t.x.programRand.Uint64() }
