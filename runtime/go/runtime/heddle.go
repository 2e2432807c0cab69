//go:build heddle

// Heddle's part of Go's runtime: one execution after another of a test, or one of a main
// program, under a schedule that the controller asks for (heddle_abi.go tells how).
//
//	heddle.go         attaching, the beginning and the end of an execution
//	heddle_wire.go    the two rings
//	heddle_sched.go   threads and scheduling points
//	heddle_slot.go    where threads are kept
//	heddle_hooks.go   the hooks in Go's scheduler
//	heddle_left.go    goroutines that are left at the end
//	heddle_policy.go  the stepping policies
//	heddle_script.go  following a schedule
//	heddle_event.go   recording: events, stacks, names of objects
//	heddle_types.go   types of objects
//	heddle_where.go   which instruction of the program an operation belongs to
//	heddle_progress.go who only waits, and the time model
//	heddle_computation.go  goroutines that go on for long without a scheduling point
//	heddle_heap.go    the collector, and where memory lies
//	heddle_clock.go   the clock, and chance
//	heddle_system.go  what only the system knows: threads that wait, signals on their way
//	heddle_access.go  plain accesses
//	heddle_atomic.go  sync/atomic
//	heddle_race.go    what orders accesses, in place of the race detector; or, in another
//	                  file of that name, Go's own race detector
//
// Exactly one controlled goroutine runs at a time: it holds the token. With a single P
// that needs no lock, but for goroutines that come back from a system call without the P;
// those wait in hd.inbox. What runs on behalf of the runtime itself (the collector, timers
// of its own) is never controlled and runs before any controlled goroutine.
package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	hdWords     = hdMaxThreads / 64
	hdMapShared = 1
	hdFutexWait = 0
	hdFutexWake = 1
)

// hdPend is what a goroutine is about to do: the operation it does once it is chosen.
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
	hdReady          // its operation can be done
	hdBlocked        // parked
	hdOutside        // in a system call that lasts, the token taken from it
	hdEnded
)

// hdThread is a controlled goroutine in one execution.
type hdThread struct {
	_ sys.NotInHeap

	gp       guintptr
	goid     uint64 // of gp, which is used again when the goroutine has ended
	index    uint32 // its slot: its place in hd.threads and in sets, used again (heddle_slot.go)
	number   uint32 // in order of creation: what everything outside of the scheduler calls it by
	planned  uint32 // its place in the plan's table of names + 1, 0: it is not there
	parent   uint32 // by its number
	nth      uint32
	children uint32
	state    uint8
	old      bool // it was there before the execution began
	held     bool // blocked or interrupted by the runtime itself: it keeps the token
	// finalizes says that it is the runtime's goroutine that runs finalizers, in one of the program's.
	finalizes bool
	pointer   bool // its atomic operation on a pointer has had its scheduling point
	name      uint64
	entry     uintptr
	created   uintptr // the go statement
	pend      hdPend
	choice    uint32 // of a select: case to try first
	prio      int64
	random    uint64 // its own stream, for select, maps and math/rand
	quiet     uint32 // accesses of its present quiet stretch
	stretches uint32 // quiet ones since its last scheduling point, forced yields not counted (heddle_computation.go)
	yieldAt   uint32 // of those, at which it yields if it still computes
	yields    uint8  // of its computations so far, at most hdStretchesMore
	computes  bool   // its pending operation is such a yield
	forced    bool   // its pending operation is a yield that heddle put in
	looks     uint32 // at the clock, since then
	ran       uint64 // hd.points when it last did an operation, or came to be enabled

	// What it does but wait (heddle_progress.go).
	stale        uint32 // observations in a row that told it nothing
	idle, futile uint32
	idleAt       uint64 // hd.progress that these two are since
	wrote        bool   // to memory of others, since its last observation
	fruitless    bool   // what it comes to will get nowhere: it only looks at told
	told         uint64
	trail        uint64 // a hash of the addresses it used since its last observation
	seenNext     uint32
	seen         [hdSeenSets][hdSeenWays]struct {
		key, value, trail uint64
	}
	access hdAccessing
	last   struct { // the access it recorded last
		pc, addr uintptr
	}
}

// hd is the state of the hooks. It is written by whoever has the P.
var hd struct {
	on      bool // attached to a controller: set at start-up, never changed
	test    bool // executions are those of a test; else of main
	active  bool // an execution is under way
	warm    bool // it is the one that warms up
	cold    bool // no warm process
	ready   bool // the controller has been told
	begun   bool // there has been an execution, if only to warm up
	noLeaks bool
	length  uint64   // points of the warm-up
	signals guintptr // the goroutine that hands on signals, not controlled either
	runner  *g       // the goroutine that runs tests, not controlled
	entry   uintptr

	shm     *hdShm
	plan    hdPlan // what is being done
	planned bool   // it is the controller's, and goes on
	plans   uint64 // bytes of its record
	planAt  uintptr
	index   uint64 // execution of the plan
	steps   unsafe.Pointer
	names   unsafe.Pointer
	points_ [hdPointSlots]uintptr // memory instructions that are scheduling points, a hash table
	npoints uint32

	threads  *[hdMaxThreads]hdThread
	nthreads uint32 // slots that have been used
	nwords   uint32 // of sets, for so many
	born     uint32 // threads that were created: the number of the next
	olds     uint32 // threads that were there before
	enabled  [hdWords]uint64
	decision [hdWords]uint64
	cur      *hdThread  // who holds the token, or held it last
	turn     *hdThread  // whose turn it is under the fair policy: the same, but never the clock
	next     *hdThread  // chosen, not running yet
	clock    *hdThread  // the one whose operation is that a timer fires
	settle   hdSettling // the test is over, others are let end
	lock     mutex
	inbox    gList
	inboxed  atomic.Uint32
	idleAt   int64 // real time since when no goroutine is enabled, 0 if one is
	released int64 // real time since when the holder of the token is in a system call

	rng        uint64
	record     bool
	accesses   bool   // accesses that are not points are wanted, and there have not been enough
	profiled   uint64 // of these, sent and skipped
	watch      bool   // accesses are of interest: recorded, or some are points
	points     uint64
	budget     uint64 // points after which the execution is a hang
	switches   uint32
	preempt    uint32
	lastRan    uint32
	since      uint64 // points when it began to run on end
	signature  uint64
	timed      uint64 // hd.points when a timer fired last
	progress   uint64 // hd.points when somebody did more than wait
	progressAt int64  // virtual time then
	drifts     bool   // time, as all only wait
	looked     bool   // somebody at the clock, since hd.progress
	ncomputing uint32 // goroutines with computes
	forced     bool   // the point that a goroutine comes to is a yield that heddle put in
	slack      int64  // virtual ns that timers may overtake others yet
	pos        uint32
	devs       uint32
	devRun     uint32
	prioLow    int64
	change     [hdChangePoints]uint64
	nchange    int
	result     hdResult
	outside    bool
	drew       bool // a recorded execution: the program drew a random number
	adds       bool // the atomic operation that comes to a point adds
	gcAt       uint64

	vbase int64 // virtual time at vreal
	vreal int64
	vnow  int64 // while an execution is active
	vfire int64 // timers that are due by then may run

	leakIgnore string
	procs      int32
	between    uint64  // random numbers outside of executions
	ports      int     // that the execution was given
	collectAt  uint64  // what hd.allocated is at the next collection
	heapFrom   uintptr // where the heap begins from which the program is given memory
	allocated  uint64  // bytes, by the goroutines of the execution
}

// hdAttach is called once the environment is known. A binary that is not started by
// heddle runs as if there were no hooks.
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
	hd.threads = (*[hdMaxThreads]hdThread)(p)
	hdSlotInit()
	hdEventInit()
	hd.test = mode == "test"
	hd.cold = hd.shm.Options&hdOptNoWarmup != 0
	hd.noLeaks = hd.shm.Options&hdOptNoLeaks != 0
	hd.leakIgnore = gogetenv("HEDDLE_LEAK_IGNORE")
	hd.procs = hdCpus
	hd.vreal = nanotime()
	hd.vbase = 1e9
	hd.on = true
	atomic.Store(&hd.shm.State, hdStateLoaded)
}

// hdLeave ends the process: heddle cannot go on. It is not the program's failure.
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

// hdTestBegin begins an execution in the goroutine of a test, whose function is fn. It
// waits until the controller wants one.
//
//go:linkname hdTestBegin
func hdTestBegin(fn uintptr) {
	if !hd.on || !hd.test || hd.active {
		return
	}
	if live := gcController.heapLive.Load(); live > hd.gcAt {
		// Not during an execution: collections would disturb nothing, but finalizers run
		// outside of the schedule. The first starts the collector's own goroutines, too.
		GC()
		live = gcController.heapLive.Load()
		hd.gcAt = live + 48<<20
	}
	hd.entry = fn
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

// hdMainEntry is where the program's main begins.
func hdMainEntry() uintptr {
	fn := main_main
	return **(**uintptr)(unsafe.Pointer(&fn))
}

func hdBegin() {
	if !hd.cold && !hd.ready && !hd.warm {
		hd.warm = true
		// As long as it takes: the controller's patience ends it.
		hd.plan = hdPlan{Repeat: 1, Policy: hdPolicyFair, MaxSteps: ^uint32(0)}
	} else {
		hd.warm = false
		if !hd.ready {
			hd.ready = true
			hdState(hdStateReady)
		}
		hdNextPlan()
		if hd.plan.MaxSteps == hdMaxSteps {
			// The user has not asked for another budget. A long test is not a hang; how long it
			// is, is not known without a warm-up.
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
	hd.rng = hdMix(p.Seed+hd.index, 0x6865646c65)
	hd.record = p.Flags&hdPlanEvents != 0
	hd.accesses, hd.profiled = p.Flags&hdPlanAccesses != 0, 0
	hd.watch = hd.npoints > 0 || hd.record && hd.accesses
	hd.nthreads, hd.nwords, hd.born, hd.olds = 0, 1, 0, 0
	hd.enabled = [hdWords]uint64{}
	hd.next, hd.clock = nil, nil
	hd.ports, hd.allocated, hd.collectAt = 0, 0, hdCollectEvery
	hd.settle, hd.outside, hd.released, hd.idleAt = hdSettling{}, false, 0, 0
	hd.drew = false
	hd.points, hd.switches, hd.preempt, hd.lastRan = 0, 0, 0, ^uint32(0)
	hd.ncomputing = 0
	hd.signature, hd.timed, hd.progress, hd.pos, hd.devs, hd.devRun = 0, 0, 0, 0, 0, 0
	hd.result = hdResult{}
	hd.slack, hd.drifts, hd.looked, hd.forced = int64(min(p.Slack, 1<<62)), false, false, false
	hdSlotBegin()
	hdScriptBegin()
	hdPolicyBegin()
	hdEventBegin()
	// The same time in every process: later ones of a process come an hour apart.
	now := hdNanotime()
	const hour = 3600e9
	hd.vnow = (now/hour + 1) * hour
	hd.vfire, hd.progressAt = hd.vnow, hd.vnow
	lock(&allglock)
	for _, old := range allgs {
		old.hd = nil
	}
	unlock(&allglock)
	hd.runner = nil
	if hd.test && gp.goid != 1 { // which does examples itself
		hd.runner = hdMainG()
	}
	t := hdAddThread(gp, ^uint32(0), 0, hdNameMain, hd.entry, 0)
	t.state = hdRunning
	hd.enabled[0] = 1
	hd.cur, hd.turn = t, t
	hd.active = true
}

// hdMainG is goroutine 1, which runs the tests one after another.
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

// hdTestFail ends the execution at a test's first failure.
//
//go:linkname hdTestFail
func hdTestFail(message string) {
	if !hd.active || getg().hd == nil {
		return
	}
	pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
	if hdInRunner(pc, fp) {
		return // a panic, which is about to be raised again
	}
	site := hdTestSite(pc, fp)
	if site == 0 { // an example, which has returned
		site = hd.entry + sys.PCQuantum
	}
	hdNote(hdOpTestFail, site, 0, 0)
	systemstack(func() {
		pcs := hdPcs(getg().m.curg, pc, fp)
		for len(pcs) > 1 && pcs[0] != site {
			pcs = pcs[1:]
		}
		hdSendBacktrace(pcs)
		hdMessage(message)
		hdFail(hdOutTest, 0, site)
	})
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

// hdFatal is called when the runtime is about to end the process for a reason that lies
// in the program: user says so, or it is one of the few throws that do.
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

// hdFinish reports an execution. With last, the process is about to end.
func hdFinish(outcome uint32, status int32, pc uintptr, last bool) {
	if !hd.active {
		return
	}
	hd.active = false
	hd.between = 0
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
	r.Outcome, r.Status, r.Pc, r.Thread = outcome, status, uint64(pc), t.number
	r.Plan, r.Index, r.Signature, r.Vtime = hd.plan.Id, hd.index, hd.signature, uint64(hd.vnow)
	r.Points, r.Switches, r.Preemptions = uint32(hd.points), hd.switches, hd.preempt
	r.Threads, r.Deviations = hd.born, hd.devs
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
	case hdOutDeadlock, hdOutLeak, hdOutHang:
		hdWaiters(outcome)
	}
	if hd.record {
		hdFlush()
		hdThreads()
	}
	// A leak does not end a search: internal/target/ipc has the same rule.
	stop := hd.plan.Flags&hdPlanStop != 0 && outcome != hdOutLeak && (outcome != hdOutClean || status != hd.plan.ExpectStatus)
	if hd.warm {
		return
	}
	hdOut(hdRecResult, unsafe.Pointer(r), hdSizeofResult)
	atomic.Xadd64(&hd.shm.Heartbeat, 1)
	atomic.Xadd64(&hd.shm.Executions, 1)
	if hd.index++; stop || hd.index >= uint64(hd.plan.Repeat) {
		hdEndPlan()
	}
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
