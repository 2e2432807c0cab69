//go:build heddle

// Heddle's part of Go's runtime executes a test repeatedly, or a main program once, under schedules
// that the controller requests (heddle_abi.go has the protocol).
//
//	heddle.go         attaching, the beginning and the end of an execution
//	heddle_wire.go    the two rings
//	heddle_sched.go   threads and scheduling points
//	heddle_slot.go    where threads are kept
//	heddle_hooks.go   the hooks in Go's scheduler
//	heddle_left.go    goroutines left at the end of a test
//	heddle_locks.go   the locks that goroutines hold
//	heddle_stuck.go   goroutines that are deadlocked beside others
//	heddle_policy.go  the stepping policies
//	heddle_script.go  following a schedule
//	heddle_holds.go   keeping threads before instructions
//	heddle_event.go   recording: events, stacks, names of objects
//	heddle_types.go   types of objects
//	heddle_where.go   the program's instruction to which an operation belongs
//	heddle_progress.go spinning, and the time model
//	heddle_computation.go goroutines that run long without a scheduling point
//	heddle_heap.go    the collector and heap addresses
//	heddle_clock.go   the clock and random numbers
//	heddle_system.go  state from the kernel: waiting threads, pending signals
//	heddle_access.go  plain accesses
//	heddle_watch.go   finding data races in place
//	heddle_clocks.go  happens-before
//	heddle_shadow.go  the accesses to each word of memory
//	heddle_atomic.go  sync/atomic
//	heddle_race.go    events that order accesses, in place of the race detector; or, in another
//	                  file of that name, the connection to Go's own race detector
//
// Exactly one controlled goroutine runs at a time: it holds the token. With a single P that needs
// no lock, except for goroutines that return from a system call without the P; those wait in
// hd.inbox. The runtime's own work (the collector, its timers) is never controlled and runs before
// any controlled goroutine.
package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	hdWords     = hdSlotsMax / 64
	hdMapShared = 1
	hdFutexWait = 0
	hdFutexWake = 1
)

// hdPend is a goroutine's pending operation, which it performs once it is chosen.
type hdPend struct {
	op     uint16
	size   uint32
	stack  uint32
	pc     uintptr
	obj    uintptr
	aux    uintptr
	value  uint64
	result int32
}

// States of a thread.
const (
	hdRunning = iota // holds the token
	hdReady          // enabled
	hdBlocked        // parked
	hdOutside        // in a long system call; the token was taken from it
	hdEnded
)

// hdThread is a controlled goroutine in one execution.
type hdThread struct {
	_ sys.NotInHeap

	gp       guintptr
	goid     uint64 // of gp, which the runtime reuses after the goroutine has ended
	index    uint32 // its slot: its place in hd.threads and in sets; reused (heddle_slot.go)
	number   uint32 // in order of creation; its name outside the scheduler
	planned  uint32 // its place in the plan's table of names + 1; 0 if the table lacks it
	parent   uint32 // by its number
	nth      uint32
	children uint32
	state    uint8
	old      bool // it existed before the execution began
	held     bool // blocked or interrupted by the runtime itself; it keeps the token
	// finalizes is set for the runtime's finalizer goroutine while it runs one of the program's
	// finalizers.
	finalizes bool
	pointer   bool // the scheduling point of its atomic pointer operation has passed
	name      uint64
	entry     uintptr
	created   uintptr // the go statement
	pend      hdPend
	choice    uint32 // of a select: case to try first
	prio      int64
	left      uint64 // WALK: interesting events that it and the threads that it will create have left
	random    uint64 // its own stream, for select, maps and math/rand
	own       uint64 // the same for hash seeds, whatever the plan's seed: for executions to be compared
	quiet     uint32 // accesses of its current quiet stretch
	stretches uint32 // quiet ones since its last scheduling point, forced yields not counted (heddle_computation.go)
	yieldAt   uint32 // value of stretches at which it yields if it still computes
	yields    uint8  // yields in its computations so far, at most hdStretchesMore
	computes  bool   // its pending operation is such a yield
	forced    bool   // its pending operation is a yield that heddle put in
	looks     uint32 // at the clock, since its last scheduling point or quiet stretch
	ran       uint64 // hd.points when it last performed an operation or became enabled
	acted     uint64 // hd.points when it last performed an operation or was created
	holds     uint64 // set of the plan's holds for its pending operation
	felt      uint64 // those that were in force at a decision
	heldAt    uint64 // hd.points when it reached the operation

	// Its progress (heddle_progress.go).
	stale        uint32 // consecutive observations that returned nothing new
	idle, futile uint32
	idleAt       uint64 // value of hd.progress since which idle and futile count
	wrote        bool   // to memory of others, since its last observation
	fruitless    bool   // its pending operation will achieve nothing: it only reads told
	told         uint64
	trail        uint64 // a hash of the addresses it used since its last observation
	seenNext     uint32
	seen         [hdSeenSets][hdSeenWays]struct {
		key, value, trail uint64
	}
	access hdAccessing
	writes struct { // the map it is about to write, and its instruction
		addr, pc uintptr
	}
	last struct { // the access it recorded last
		pc, addr, size uintptr
	}
	order  hdOrder // in a watched execution
	locks  hdLocks
	live   bool    // it may still run (heddle_stuck.go)
	cases  uintptr // of its select: a distance from the top of its stack, or an address
	ncases uint32
	sends  uint32 // how many of its cases send: the first ones
}

// hd is the state of the hooks. Only the holder of the P writes it.
var hd struct {
	on      bool // attached to a controller: set at start-up, never changed
	test    bool // executions are those of a test; otherwise of main
	active  bool // an execution is under way
	warm    bool // the execution is the warm-up
	cold    bool // no warm process
	ready   bool // heddle has reported to the controller that it is ready
	begun   bool // an execution has begun, if only the warm-up
	noLeaks bool

	testDepth uintptr // of the test's goroutine, where its function begins: bytes from the top of the stack
	testOver  bool    // what is in reach is looked for after the test's function

	length  uint64   // points of the warm-up
	signals guintptr // the goroutine that forwards signals, not controlled either
	runner  *g       // the goroutine that runs tests, not controlled
	entry   uintptr

	shm     *hdShm
	plan    hdPlan // the current plan
	planned bool   // plan came from the controller and has executions left
	plans   uint64 // bytes of its record
	planAt  uintptr
	index   uint64 // execution of the plan
	steps   unsafe.Pointer
	names   unsafe.Pointer
	points_ [hdPointSlots]uintptr // memory instructions that are scheduling points, a hash table
	npoints uint32

	threads  *[hdSlotsMax]hdThread
	nthreads uint32 // slots in use so far
	nwords   uint32 // words of a set of that many slots
	born     uint32 // threads created: the number of the next
	enabled  [hdWords]uint64
	decision [hdWords]uint64
	cur      *hdThread  // the thread that holds the token, or held it last
	turn     *hdThread  // the thread whose turn it is under the fair policy: cur, but never the clock
	next     *hdThread  // chosen, not yet running
	clock    *hdThread  // the thread whose operations are timers firing
	settle   hdSettling // the test has ended; the other goroutines are given time to end
	lock     mutex
	inbox    gList
	inboxed  atomic.Uint32
	idleAt   int64 // real time since when no goroutine is enabled, 0 if one is
	released int64 // real time since when the holder of the token is in a system call

	rng        uint64
	record     bool
	states     bool   // states of goroutines are wanted
	values     bool   // every access is wanted, and every allocation
	accesses   bool   // accesses other than points are wanted, and MaxAccesses is not reached
	profiled   uint64 // of these, sent and skipped
	watch      bool   // accesses are of interest: recorded, watched, or some are points
	watching   bool   // the execution is watched for data races (heddle_watch.go)
	watched    bool   // the execution has been watched from its beginning
	alone      bool   // the first thread has been the only one, and no timer has been set
	points     uint64
	budget     uint64 // points after which the execution is cut off
	late       bool   // the fair phase has begun
	suspected  bool   // of a hang: the phase begins with the next decision
	fairAt     uint64 // points when it began, 0 if it has not
	fairUntil  uint64 // points with which the last fair window ends
	vain       uint64 // fruitless observations of all threads since then
	fairRng    uint64 // of strongly fair decisions
	longSince  int64  // virtual time since when time passes although threads are at work; 0: it does not
	switches   uint32
	preempt    uint32
	lastRan    uint32
	since      uint64 // points when the current thread's uninterrupted run began
	signature  uint64
	timed      uint64 // hd.points when a timer fired last
	progress   uint64 // hd.points when a thread last did more than wait
	progressAt int64  // virtual time then
	drifts     bool   // time advances because all threads only wait
	looked     bool   // a thread has read the clock since hd.progress
	ncomputing uint32 // goroutines with computes
	stretches  uint32 // quiet stretches of goroutines that computed
	forced     bool   // the scheduling point being reached is a yield that heddle inserted
	slack      int64  // virtual ns by which timers may still overtake threads
	pos        uint32
	devs       uint32
	devRun     uint32
	prioLow    int64
	change     [hdChangePoints]uint64
	nchange    int
	delays     int            // DELAY: those that the next decision makes
	intended   uint32         // WALK: slot of the thread whose interesting event is to come next; ^0: none
	weights    unsafe.Pointer // WALK: the plan's weights
	result     hdResult
	quit       bool // the controller has asked for the end of the execution, which counts as a hang
	outside    bool
	forked     bool // the execution may have children
	drew       bool // a recorded execution: the program drew a random number
	adds       bool // the atomic operation at the scheduling point is an addition
	gcAt       uint64

	vbase int64 // virtual time at vreal
	vreal int64
	vnow  int64 // while an execution is active
	began int64 // virtual time at which the execution began: recorded times count from it
	vfire int64 // timers due by then may run

	leakIgnore string
	procs      int32
	between    uint64  // state of the random numbers between executions
	ports      int     // ports given to the execution
	collectAt  uint64  // what hd.allocated is at the next collection
	heapFrom   uintptr // first heap address from which the program gets memory
	allocated  uint64  // bytes allocated by the goroutines of the execution
}

// hdAttach is called once the environment is known. A binary that heddle did not start runs as if
// there were no hooks.
func hdAttach() {
	mode := gogetenv("HEDDLE_GO")
	if mode == "" {
		return
	}
	p, err := mmap(nil, physPageSize, _PROT_READ, hdMapShared, hdShmFd, 0)
	if err != 0 {
		return // a child of a program under heddle
	}
	head := (*hdShm)(p)
	if head.Magic != hdMagic {
		munmap(p, physPageSize)
		return
	}
	total := uintptr(head.Total)
	munmap(p, physPageSize)
	p, err = mmap(nil, total, _PROT_READ|_PROT_WRITE, hdMapShared, hdShmFd, 0)
	if err != 0 {
		return
	}
	closefd(hdShmFd)
	hd.shm = (*hdShm)(p)
	if s := hd.shm; s.Abi != hdAbiVersion || s.SizeEvent != hdSizeofEvent || s.SizePlan != hdSizeofPlan || s.SizeResult != hdSizeofResult || s.SizeShm != hdSizeofShm {
		hdLeave(hdStateRefused, "this program was built by another version of heddle: build it again")
	}
	hd.shm.Points = hdPointsVersion
	hd.shm.Instrumented = hdInstrTsan
	p, err = mmap(nil, unsafe.Sizeof(*hd.threads), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
	if err != 0 {
		hdLeave(hdStateFatal, "no memory for threads")
	}
	hd.threads = (*[hdSlotsMax]hdThread)(p)
	hdSlotInit()
	hdEventInit()
	hdOutputInit()
	hd.test = mode == "test"
	hd.cold = hd.shm.Options&hdOptNoWarmup != 0
	hd.noLeaks = hd.shm.Options&hdOptNoLeaks != 0
	hd.leakIgnore = gogetenv("HEDDLE_LEAK_IGNORE")
	hdCover = hdCoverMap("HEDDLE_COVER")
	hd.procs = hdCpus
	hd.vreal = nanotime()
	hd.vbase = 1e9
	hd.on = true
	atomic.Store(&hd.shm.State, hdStateLoaded)
}

// hdLeave ends the process because heddle cannot continue. The program has not failed.
func hdLeave(state uint32, why string) {
	n := copy(hd.shm.Message[:len(hd.shm.Message)-1], why)
	hd.shm.Message[n] = 0
	hdState(state)
	exit(125)
}

func hdState(state uint32) {
	atomic.Store(&hd.shm.State, state)
	hdFutex(&hd.shm.State, hdFutexWake, 1)
}

// hdTestBegin begins an execution in the goroutine of a test, whose function is fn. It waits until
// the controller requests one.
//
//go:linkname hdTestBegin
func hdTestBegin(fn uintptr) {
	if !hd.on || !hd.test || hd.active {
		return
	}
	if live := gcController.heapLive.Load(); live > hd.gcAt {
		// Collect between executions: finalizers run outside the schedule. The first
		// collection also starts the collector's own goroutines.
		GC()
		live = gcController.heapLive.Load()
		hd.gcAt = live + hdCollectBetween
	}
	hd.entry = fn
	hd.testDepth = hdDepth(sys.GetCallerSP())
	hdBegin()
}

//go:linkname hdMainBegin
func hdMainBegin() {
	if !hd.on || hd.test {
		return
	}
	hd.cold = true
	hd.entry = hdMainEntry()
	hdBegin()
}

// hdMainEntry returns the entry address of the program's main.
func hdMainEntry() uintptr {
	fn := main_main
	return **(**uintptr)(unsafe.Pointer(&fn))
}

func hdBegin() {
	if !hd.cold && !hd.ready && !hd.warm {
		hd.warm = true
		// Some tests never end. Each execution then has a process of its own, and the plan's budget.
		hd.plan = hdPlan{Repeat: 1, Policy: hdPolicyFair, MaxSteps: hdWarmSteps}
	} else {
		hd.warm = false
		if !hd.ready {
			hd.ready = true
			hdState(hdStateReady)
		}
		hdNextPlan()
		if hd.plan.MaxSteps == hdMaxSteps && hd.plan.Flags&hdPlanCut == 0 {
			// The user has set no step budget. A long test is not a hang, and without a
			// warm-up its length is unknown.
			if hd.test && hd.cold {
				hd.length = hdMaxSteps
			}
			hd.plan.MaxSteps = uint32(min(max(hdMaxSteps, 8*hd.length), 1<<31))
		}
	}
	hdFreshHeap(!hd.begun)
	hd.begun = true
	hdClearPools()
	gp := getg()
	systemstack(func() { hdStart(gp) })
	hdPoint(hdOpThreadStart, hd.entry, 0, 0)
}

func hdStart(gp *g) {
	p := &hd.plan
	hd.steps = add(unsafe.Pointer(hd.planAt), hdSizeofPlan)
	hd.names = add(hd.steps, uintptr(p.Nsteps)*hdSizeofStep)
	if p.SetPoints != 0 && !hd.warm {
		hdSetPoints(add(hd.names, uintptr(p.Nthreads)*8), p.Npoints)
		p.SetPoints = 0 // later executions of the plan keep them
	}
	hd.rng = hdMix(hdSeed(p)+hd.index, 0x6865646c65)
	hd.record = p.Flags&hdPlanEvents != 0
	hd.accesses, hd.profiled = p.Flags&hdPlanAccesses != 0, 0
	hd.states = hd.record && p.Flags&hdPlanStates != 0
	hd.values = hd.accesses && p.Flags&hdPlanValues != 0
	hd.nthreads, hd.nwords, hd.born = 0, 1, 0
	hd.enabled[0] = 0
	hd.next, hd.clock = nil, nil
	hd.ports, hd.allocated, hd.collectAt = 0, 0, hdCollectEvery
	hd.settle, hd.outside, hd.forked, hd.released, hd.idleAt = hdSettling{}, false, false, 0, 0
	hd.drew = false
	hd.points, hd.switches, hd.preempt, hd.lastRan = 0, 0, 0, ^uint32(0)
	hd.ncomputing, hd.stretches = 0, 0
	hdTestFailed.site = 0
	hd.signature, hd.timed, hd.progress, hd.pos, hd.devs, hd.devRun = 0, 0, 0, 0, 0, 0
	hd.longSince = 0
	hd.result = hdResult{}
	hd.slack, hd.drifts, hd.looked, hd.forced = int64(min(p.Slack, 1<<62)), false, false, false
	hdSlotBegin()
	hdScriptBegin()
	hdPolicyBegin()
	hdHoldsBegin()
	hdEventBegin()
	if hd.record {
		hdTakenBegin()
	}
	hdLocksBegin()
	hdStuckBegin()
	// The same time in every process; later executions of a process are an hour apart.
	now := hdNanotime()
	const hour = 3600e9
	hd.vnow = (now/hour + 1) * hour
	hd.began, hd.vfire, hd.progressAt = hd.vnow, hd.vnow, hd.vnow
	hdOldTimers()
	lock(&allglock)
	for _, old := range allgs {
		old.hd = nil
	}
	unlock(&allglock)
	hd.runner = nil
	if hd.test && gp.goid != 1 { // goroutine 1 runs examples itself
		hd.runner = hdMainG()
	}
	hd.alone = hdBeginsAlone(gp)
	hdWatchBegin()
	hdOutputBegin()
	t := hdAddThread(gp, ^uint32(0), 0, hdNameMain, hd.entry, 0)
	t.state = hdRunning
	hd.enabled[0] = 1
	hd.cur, hd.turn = t, t
	hd.active = true
}

// hdMainG returns goroutine 1, which runs the tests one after another.
func hdMainG() *g {
	for _, gp := range allgs {
		if gp.goid == 1 {
			return gp
		}
	}
	return nil
}

//go:linkname hdMainEnd
func hdMainEnd() {
	if hd.active && getg().hd != nil {
		hdPoint(hdOpProcessExit, 0, 0, 0)
		systemstack(func() { hdFinish(hdOutClean, 0, 0, true) })
	}
}

// hdExit is called before os.Exit ends the process.
func hdExit(code int) {
	if !hd.active {
		return
	}
	if getg().hd != nil {
		hdPoint(hdOpProcessExit, 0, 0, uint64(uint32(code)))
	}
	pc := hdWhere(sys.GetCallerPC(), hdDepth(getcallerfp()), hdSkipOS)
	message := "os.Exit(" + hdItoa(code) + ") in a test"
	systemstack(func() {
		if hd.test {
			hdMessage(message)
			hdFinish(hdOutExit, int32(code), pc, true)
		} else {
			hdFinish(hdOutClean, int32(code), pc, true)
		}
	})
}

// hdExploring reports whether tests are executed for a controller.
//
//go:linkname hdExploring
func hdExploring() bool { return hd.on && hd.test }

// hdTestFailed is the first failure of the execution's test.
var hdTestFailed struct {
	site    uintptr // 0 while the test has not failed
	thread  uint32  // by its number
	pcs     [len(hdPcBuf)]uintptr
	npcs    uintptr
	message [hdMessageMost]byte
	length  uintptr // of the message
}

// hdTestFail notes a test's first failure. The execution continues until the test returns, as under
// go test.
//
//go:linkname hdTestFail
func hdTestFail(message string) {
	if !hd.active || getg().hd == nil || hdTestFailed.site != 0 {
		return
	}
	pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
	if hdInRunner(pc, fp) {
		return // a panic, about to be raised again
	}
	site := hdTestSite(pc, fp)
	if site == 0 { // an example, which has returned
		site = hd.entry + sys.PCQuantum
	}
	hdNote(hdOpTestFail, site, 0, 0)
	f := &hdTestFailed
	f.site, f.thread = site, getg().hd.number
	f.length = uintptr(copy(f.message[:], message))
	systemstack(func() {
		pcs := hdPcs(getg().m.curg, pc, fp)
		for len(pcs) > 1 && pcs[0] != site {
			pcs = pcs[1:]
		}
		f.npcs = uintptr(copy(f.pcs[:], pcs))
	})
}

// hdOutcomeOf returns the outcome of an execution that ends with the given one. A failure of the
// test takes precedence over goroutines that wait, are stuck or are left, which may be its
// consequences, but not over what ends the process.
func hdOutcomeOf(outcome uint32) uint32 {
	if hdTestFailed.site != 0 {
		switch outcome {
		case hdOutClean, hdOutLeak, hdOutDeadlock, hdOutHang, hdOutUnfinished:
			return hdOutTest
		}
	}
	return outcome
}

// hdPanicked is called when a panic is about to end the process.
func hdPanicked() {
	if !hd.active {
		return
	}
	pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
	site := hdPanicSite(pc, fp)
	systemstack(func() { hdFinish(hdOutPanic, 0, site, true) })
}

// hdFatal is called when the runtime is about to end the process because of a fault in the program:
// user is set, or the throw is one of the few that the program causes.
//
//go:nosplit
func hdFatal(reason string, user bool) {
	if !hd.active || !user && reason != "stack overflow" {
		return
	}
	pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
	systemstack(func() {
		if reason == "stack overflow" {
			hdFinish(hdOutFatal, 0, 0, true)
			return
		}
		site := hdWhere(pc, fp, hdSkipLibrary)
		hdBacktrace(pc, fp)
		hdFinish(hdOutFatal, 0, site, true)
	})
}

// hdFail ends the execution and the process.
func hdFail(outcome uint32, status int32, pc uintptr) {
	hdFinish(outcome, status, pc, true)
	exit(2)
}

// hdFinish reports an execution. With last set, the process is about to end.
func hdFinish(outcome uint32, status int32, pc uintptr, last bool) {
	if !hd.active {
		return
	}
	hd.active = false
	hd.between = 0
	hdCoverMerge()
	if hd.warm {
		if outcome != hdOutClean || last {
			hdState(hdStateCold)
			exit(0)
		}
		hd.length = hd.points
	}
	hd.vbase, hd.vreal = hd.vnow, nanotime()
	r := &hd.result
	t := hd.cur
	if gp := getg().m.curg; gp != nil && gp.hd != nil {
		t = gp.hd
	}
	if hdStuck.thread != nil {
		t = hdStuck.thread
	}
	r.Outcome, r.Status, r.Pc, r.Thread = outcome, status, uint64(pc), t.number
	if outcome = hdOutcomeOf(outcome); outcome != r.Outcome {
		f := &hdTestFailed
		r.Outcome, r.Pc, r.Thread = outcome, uint64(f.site), f.thread
		hdOut(hdRecBacktrace, unsafe.Pointer(&f.pcs), f.npcs*8)
		hdMessageOf(unsafe.Pointer(&f.message), f.length)
	}
	r.Plan, r.Index, r.Signature, r.Vtime = hd.plan.Id, hd.index, hd.signature, uint64(hd.vnow)
	r.Points, r.Switches, r.Preemptions = uint32(hd.points), hd.switches, hd.preempt
	r.Threads, r.Deviations, r.FairAt = hd.born, hd.devs, uint32(hd.fairAt)
	r.Stretches = hd.stretches
	if hd.outside {
		r.Notes |= hdNoteExternal
	}
	if hd.drew {
		r.Notes |= hdNoteRandom
	}
	if last {
		r.Last = 1
	}
	hd.record = hd.record || hd.settle.recorded
	switch outcome {
	case hdOutDeadlock, hdOutLeak, hdOutHang, hdOutUnfinished:
		hdWaiters(outcome)
	}
	hdWatchEnd() // last: it names objects that only races touch
	if hd.record {
		hdFlush()
		hdThreads()
	}
	// A leak does not end a search: internal/target/ipc has the same rule.
	stop := hd.plan.Flags&hdPlanStop != 0 && outcome != hdOutLeak && (outcome != hdOutClean || status != hd.plan.ExpectStatus)
	if hd.warm {
		return
	}
	hdHoldsReport()
	if r.Outcome == hdOutClean {
		hdOutputSend()
	}
	hdOut(hdRecResult, unsafe.Pointer(r), hdSizeofResult)
	atomic.Xadd64(&hd.shm.Heartbeat, 1)
	atomic.Xadd64(&hd.shm.Executions, 1)
	if hd.index++; stop || hd.index >= uint64(hd.plan.Repeat) {
		hdEndPlan()
	}
	hdTold(last || outcome != hdOutClean)
}

func hdMix(a, b uint64) uint64 {
	x := (a ^ b) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

func hdItoa(n int) string {
	var buf [20]byte
	i := len(buf)
	u := uint(n)
	if n < 0 {
		u = -u
	}
	for ok := true; ok; ok = u > 0 {
		i--
		buf[i] = byte('0' + u%10)
		u /= 10
	}
	if n < 0 {
		i--
		buf[i] = '-'
	}
	return string(buf[i:])
}
