//go:build heddle

// Goroutines left when a test ends. They are given time to end: first under the schedule, recorded
// as before; then, if some may still run, longer under the fair policy and unrecorded, so that the
// trace does not grow with irrelevant events. A goroutine that is left when none can ever run again
// cannot end. One that is left when the time limit is reached is only known to be still running.
package runtime

import (
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

// Limits on the time goroutines are given after a test, docs/go.md. Time is virtual, in ns.
const (
	hdSettleTime   = 10e9
	hdSettleFires  = 1000 // timers
	hdSettlePoints = 10000

	hdLingerTime   = 3600e9
	hdLingerFires  = 10000
	hdLingerPoints = 100000

	hdSettleReal = 1e9 // real ns that a system call may take when all other goroutines are done
)

// Phases after a test.
const (
	hdSettleNone = iota
	hdSettleRuns
	hdSettleLingers
)

type hdSettling struct {
	phase    uint8
	recorded bool // recording stopped when goroutines began to linger
	fires    uint32
	maxFires uint32
	began    uint64 // hd.points
	points   uint64 // until hd.points reaches this
	time     int64  // until hd.vnow reaches this
	real     int64  // since when only system calls are in progress
}

// hdTestEnd ends the execution in the test's goroutine, after its clean-ups.
//
//go:linkname hdTestEnd
func hdTestEnd(skipped bool) {
	gp := getg()
	if !hd.active || gp.hd == nil || gp.hd.index != 0 {
		return
	}
	if skipped {
		hd.result.Notes |= hdNoteSkipped
	}
	hdPoint(hdOpTestEnd, 0, 0, 0)
	hdSettle(hdSettleRuns)
	leaks := !hd.noLeaks && hdTestFailed.site == 0 && hdAnyThread(hdLeaked)
	if leaks && (hd.record || hd.warm || !hdAtRest() || hdAnyThread(hdLeakNew)) {
		GC() // a finalizer may end them
		hdSettle(hdSettleRuns)
		if leaks = hdAnyThread(hdLeaked); leaks && hdAtRest() {
			hdLeaksRemember()
		}
	}
	if leaks && !hd.warm && !hdAtRest() {
		if hd.plan.Flags&hdPlanHaste != 0 {
			leaks = hdAnyThread(hdStill)
		} else {
			hdSettle(hdSettleLingers)
			leaks = hdAnyThread(hdLeaked)
		}
	}
	systemstack(func() {
		// Goroutines that can still run would take part in every later execution, and one
		// stopped at a scheduling point would keep its locks. A test that leaves goroutines
		// often leaves other things that its repetition would meet: a port in use, a
		// handler.
		stopped := hdAnyThread(hdStopped)
		last := stopped || hd.warm && leaks && !hdAtRest() || hdTimer() != 0 && hdAnyThread(hdLeft) && !hd.warm
		outcome := uint32(hdOutClean)
		if leaks && !hd.warm {
			outcome = hdOutLeak
		}
		hdFinish(outcome, 0, 0, last)
		if last {
			exit(0)
		}
	})
}

// hdLeaksSeen are places in which goroutines were left that no finalizer ended. A collection takes longer than most tests, so an
// unrecorded execution that leaves goroutines only there has none: the controller records an execution of each before it reports them.
var hdLeaksSeen struct {
	n  int
	at [32]struct{ entry, pc uintptr }
}

// hdLeakNew reports whether t is left in a place that is not in hdLeaksSeen.
func hdLeakNew(t *hdThread) bool {
	if !hdLeaked(t) {
		return false
	}
	for _, at := range hdLeaksSeen.at[:hdLeaksSeen.n] {
		if at.entry == t.entry && at.pc == t.pend.pc {
			return false
		}
	}
	return true
}

// hdLeaksRemember adds the places of the goroutines that are left to hdLeaksSeen.
func hdLeaksRemember() {
	s := &hdLeaksSeen
	for i := range hd.nthreads {
		if t := &hd.threads[i]; s.n < len(s.at) && hdLeakNew(t) {
			s.at[s.n].entry, s.at[s.n].pc = t.entry, t.pend.pc
			s.n++
		}
	}
}

// hdSettle lets the other goroutines run until none can, or the phase's time limit is reached.
func hdSettle(phase uint8) {
	s := &hd.settle
	s.phase, s.fires, s.real, s.began = phase, 0, 0, hd.points
	switch phase {
	case hdSettleRuns:
		s.maxFires, s.points, s.time = hdSettleFires, hd.points+hdSettlePoints, hd.vnow+hdSettleTime
	case hdSettleLingers:
		s.maxFires, s.points, s.time = hdLingerFires, hd.points+hdLingerPoints, hd.vnow+hdLingerTime
		s.recorded, hd.record = hd.record, false
		hdWatchStops() // without the synchronisation between them, accesses look like races
	}
	gopark(nil, nil, waitReasonZero, traceBlockGeneric, 1) // hdSettleOver wakes it
	s.phase = hdSettleNone
}

// hdSettled reports whether the time after the test has ended.
func hdSettled() bool {
	s := &hd.settle
	if s.phase == hdSettleNone {
		return false
	}
	if s.fires >= s.maxFires || hd.points >= s.points || hd.nthreads >= hdSlotsMax-1 {
		return true
	}
	if hd.vnow > s.time {
		return true
	}
	return !hdAny() && hdTimer() > s.time
}

// hdSettleWaited reports whether heddle has waited long enough for system calls.
func hdSettleWaited() bool {
	now := nanotime()
	if hd.settle.real == 0 {
		hd.settle.real = now
	}
	return now-hd.settle.real > hdSettleReal
}

// hdSettleOver makes the test's goroutine the next to run.
func hdSettleOver() *hdThread {
	t := hdMainThread()
	casgstatus(t.gp.ptr(), _Gwaiting, _Grunnable)
	t.state = hdRunning
	hd.cur, hd.turn = t, t
	return t
}

// hdAtRest reports whether no other goroutine could ever run again.
func hdAtRest() bool {
	return hdTimer() == 0 && !hdAnyThread(hdMayGoOn) && (hd.signals == 0 || !sig.inuse)
}

// hdMayGoOn reports whether t could run, or waits for something outside the program.
func hdMayGoOn(t *hdThread) bool {
	if t.index == 0 || t == hd.clock {
		return false
	}
	return hdStopped(t) || t.state == hdBlocked && t.pend.op == hdOpExternal
}

// hdStopped reports whether t could run.
func hdStopped(t *hdThread) bool {
	return t.index != 0 && t != hd.clock && (t.state == hdReady || t.state == hdOutside)
}

// hdAnyThread reports whether is returns true for any thread.
func hdAnyThread(is func(*hdThread) bool) bool {
	for i := range hd.nthreads {
		if is(&hd.threads[i]) {
			return true
		}
	}
	return false
}

// hdLeft reports whether the execution has left goroutine t behind.
func hdLeft(t *hdThread) bool {
	return t.index != 0 && t != hd.clock && t.state != hdEnded && !t.old
}

// hdLeaked is hdLeft without the goroutines that the user allows.
func hdLeaked(t *hdThread) bool {
	if !hdLeft(t) {
		return false
	}
	for rest := hd.leakIgnore; rest != ""; {
		var one string
		one, rest, _ = stringslite.Cut(rest, "\n")
		if one != "" && hdOfFunc(t, one) {
			return false
		}
	}
	return true
}

// hdStill is hdLeaked without the goroutines that may still run, and those that did something while others settled.
func hdStill(t *hdThread) bool {
	return hdLeaked(t) && t.state == hdBlocked && t.pend.op != hdOpExternal && t.ran <= hd.settle.began
}

// hdOfFunc reports whether a function whose name contains name started t or is on its stack,
// inlined calls included. The frames of a system call are not examined, since its kernel thread may
// return meanwhile.
func hdOfFunc(t *hdThread, name string) bool {
	if hdInFunc(t.entry, name) || hdInFunc(t.created, name) {
		return true
	}
	gp := t.gp.ptr()
	if gp == nil || t.state != hdBlocked && t.state != hdReady {
		return false
	}
	for i, pc := range hdPcs(gp, gp.sched.pc, gp.stack.hi-gp.sched.bp) {
		if i > 0 {
			pc-- // of the call, not of the instruction after it
		}
		if hdInFunc(pc, name) {
			return true
		}
	}
	return false
}

// hdInFunc reports whether the name of the function around pc contains name, or that of a
// function that is inlined there.
func hdInFunc(pc uintptr, name string) bool {
	f := findfunc(pc)
	if !f.valid() {
		return false
	}
	u, frame := newInlineUnwinder(f, pc)
	for ; frame.valid(); frame = u.next(frame) {
		if stringslite.Index(u.srcFunc(frame).name(), name) >= 0 {
			return true
		}
	}
	return false
}

// hdWaiters reports the goroutines that have not ended. After a test, those that may still run
// count as enabled; with hdPlanHaste, only hdStill ones are reported then.
func hdWaiters(outcome uint32) {
	quiet := outcome == hdOutLeak && hdAtRest()
	still := outcome == hdOutLeak && !quiet && hd.plan.Flags&hdPlanHaste != 0
	tells := outcome == hdOutLeak && hd.record && !hd.warm && hd.plan.Flags&hdPlanHaste == 0
	known := tells && hdFindLost()
	for i := range hd.nthreads {
		t := &hd.threads[i]
		if t == hd.clock || t.state == hdEnded || t.index == 0 && outcome == hdOutLeak || t.old && t.pend.op != hdOpResume || outcome == hdOutLeak && !hdLeaked(t) || still && !hdStill(t) {
			continue
		}
		w := hdWaiterOf(t, outcome == hdOutUnfinished)
		if outcome == hdOutLeak && !quiet {
			w.Flags = hdWaitReady
		}
		if hdStuck.thread != nil {
			hdStuckWaiter(t, &w)
		}
		switch {
		case !known:
		case t.live:
			w.Flags |= hdWaitKept
		case hdWaitReached(t):
			w.Flags |= hdWaitHeld
		default:
			w.Flags |= hdWaitLost
		}
		if gp := t.gp.ptr(); gp != nil && t.state == hdBlocked {
			w.Stack = hdStack(gp, gp.sched.pc, gp.stack.hi-gp.sched.bp, t.pend.pc)
		}
		hdOut(hdRecWaiter, unsafe.Pointer(&w), hdSizeofWaiter)
	}
	if tells {
		hdCases()
	}
}

// hdFindLost sets live of each goroutine that may still run or be woken after a test, and reports whether that is known.
func hdFindLost() bool {
	hd.testOver = true
	hdFindStuck()
	hd.testOver = false
	return !iscgo && !hdReach.all && hdReach.hdReachTables != nil
}

const hdTakenSlots = 1 << 12

// hdTaken counts which cases the selects of an execution have taken while it is recorded: the events do not name their channels, since a
// name would be a number, and objects are numbered in the order of the events that concern them.
var hdTaken struct {
	n     uint32
	lost  bool // there are too many
	slots [hdTakenSlots]struct {
		c      uintptr
		thread uint32
		op     uint16
		n      uint64
	}
}

func hdTakenBegin() {
	if hdTaken.n > 0 {
		clear(hdTaken.slots[:])
	}
	hdTaken.n, hdTaken.lost = 0, false
}

// hdTookCase counts a case that a select of t has taken.
func hdTookCase(t *hdThread, op uint16, c *hchan) {
	k := &hdTaken
	at := uintptr(unsafe.Pointer(c))
	for i := hdMix(uint64(at), uint64(t.number)<<1|uint64(op&1)) % hdTakenSlots; ; i = (i + 1) % hdTakenSlots {
		s := &k.slots[i]
		if s.n == 0 {
			if k.n++; k.n > hdTakenSlots/2 {
				k.lost = true
				return
			}
			s.c, s.thread, s.op = at, t.number, op
		}
		if s.c == at && s.thread == t.number && s.op == op {
			s.n++
			return
		}
	}
}

// hdCases reports the cases of the selects in which goroutines are left, and which selects took what concerns a channel for which
// one is left.
func hdCases() {
	waits := func(t *hdThread) bool {
		return hdLeaked(t) && hdWaitsFor(t)
	}
	for i := range hd.nthreads {
		t := &hd.threads[i]
		if !waits(t) || hdOperation(t) != hdOpSelect {
			continue
		}
		for i := range t.ncases {
			if c := hdCase(t, i); c != nil {
				hdOutCase(t.number, hdCaseOp(t, i), uintptr(unsafe.Pointer(c)), 0)
			}
		}
	}
	if hdTaken.lost {
		hdOutCase(0, hdOpSelect, 0, 0)
		return
	}
	for i := range hdTaken.slots {
		s := &hdTaken.slots[i]
		if s.n == 0 {
			continue
		}
		for i := range hd.nthreads {
			if t := &hd.threads[i]; waits(t) && hdWaitsOn(t, s.c) {
				hdOutCase(s.thread, s.op, s.c, s.n)
				break
			}
		}
	}
}

// hdWaitsOn reports whether t waits for the channel at c.
func hdWaitsOn(t *hdThread, c uintptr) bool {
	if hdOperation(t) != hdOpSelect {
		return t.pend.obj == c
	}
	for i := range t.ncases {
		if uintptr(unsafe.Pointer(hdCase(t, i))) == c {
			return true
		}
	}
	return false
}

func hdOutCase(thread uint32, op uint16, c uintptr, taken uint64) {
	rec := hdSelectCase{Thread: thread, Op: op, Object: hdObject(c), Taken: taken}
	hdOut(hdRecCase, unsafe.Pointer(&rec), hdSizeofSelectCase)
}

// hdWaiterOf returns where a goroutine is, without its stack.
func hdWaiterOf(t *hdThread, unfinished bool) hdWaiter {
	w := hdWaiter{Thread: t.number, Op: t.pend.op, Pc: uint64(t.pend.pc), Object: hdObject(t.pend.obj)}
	if t.pend.op == hdOpResume {
		w.Op = uint16(t.pend.value)
	}
	if t.forced && unfinished {
		w.Op = hdOpNone // the yield is not the program's
	}
	if t.state == hdReady || t.state == hdRunning {
		w.Flags = hdWaitReady
	}
	if o := hdOwner(t.pend.obj); o != 0 && (w.Op >= hdOpGmutexLock && w.Op <= hdOpRwUnlock) {
		w.Holder = o
	}
	return w
}

// hdPlaces is the record of hdTellWhere.
var hdPlaces struct {
	zero, n uint32
	threads [hdWhereMost]hdWaiter
}

// hdTellWhere sends where the goroutines are, if the controller has asked. pc is where t, which runs, computes, 0 if it is at
// its pending operation.
func hdTellWhere(t *hdThread, pc uintptr) {
	if !atomic.Cas(&hd.shm.Cut, hdCutWhere, hdCutNone) {
		return
	}
	r := &hdPlaces
	r.n = 0
	for i := range hd.nthreads {
		u := &hd.threads[i]
		if u == hd.clock || u.state == hdEnded || u.old || r.n == hdWhereMost {
			continue
		}
		w := hdWaiterOf(u, true)
		if u == t && pc != 0 {
			w = hdWaiter{Thread: u.number, Op: hdOpNone, Flags: hdWaitReady, Pc: uint64(pc)}
		}
		r.threads[r.n] = w
		r.n++
	}
	hdOut(hdRecWhere, unsafe.Pointer(r), unsafe.Offsetof(r.threads)+uintptr(r.n)*hdSizeofWaiter)
}
