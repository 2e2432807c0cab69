//go:build heddle

// Scheduling points. A goroutine stops before each operation with the operation pending;
// one that can go on is chosen, and does its operation. A goroutine that Go's runtime
// parks leaves the set of those that can go on, and comes back, when somebody makes it
// ready, with a RESUME pending.
package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

//go:nosplit
func hdHas(s *[hdWords]uint64, i uint32) bool { return s[i/64]>>(i%64)&1 != 0 }

//go:nosplit
func hdAdd(s *[hdWords]uint64, i uint32) { s[i/64] |= 1 << (i % 64) }

//go:nosplit
func hdDel(s *[hdWords]uint64, i uint32) { s[i/64] &^= 1 << (i % 64) }

// hdThreadOf is the controlled goroutine gp in this execution, nil if it is none.
//
//go:nosplit
func hdThreadOf(gp *g) *hdThread {
	t := gp.hd
	if t == nil || t.goid != gp.goid {
		return nil
	}
	return t
}

// hdNewThread names a goroutine by who created it and as which of its children.
func hdNewThread(gp *g, parent *hdThread, entry, created uintptr) *hdThread {
	i := hd.nthreads
	if i >= hdMaxThreads {
		hdMessage("more than 4096 goroutines in one execution")
		hdFinish(hdOutUnsupported, 0, created, true)
		exit(2)
	}
	hd.nthreads++
	hd.nwords = (hd.nthreads + 63) / 64
	t := &hd.threads[i]
	*t = hdThread{index: i, entry: entry, created: created, state: hdReady, parent: ^uint32(0), name: hdNameMain}
	if parent != nil {
		parent.children++
		t.parent, t.nth = parent.index, parent.children
		t.name = hdMix(parent.name, uint64(t.nth))
	}
	t.random = hdMix(hd.plan.Seed+hd.index, t.name)
	if gp != nil {
		t.gp.set(gp)
		t.goid = gp.goid
		gp.hd = t
	}
	t.prio = hdFresh()
	hdScriptThread(t)
	return t
}

// hdClock is the thread whose operations are that timers fire.
func hdClock() *hdThread {
	if hd.clock == nil {
		t := hdNewThread(nil, hdMainThread(), 0, 0)
		hdMainThread().children--
		t.nth = 0
		t.name = hdNameMain ^ 0x636c6f636b
		t.pend = hdPend{op: hdOpTimerFire}
		hdScriptThread(t)
		hd.clock = t
	}
	return hd.clock
}

// hdOldThread takes in a goroutine that was there before the execution began and makes
// itself felt now. It is nobody's child.
func hdOldThread(gp *g) *hdThread {
	main := hdMainThread()
	t := hdNewThread(gp, main, gp.startpc, gp.gopc)
	main.children--
	hd.olds++
	t.nth = 0
	t.name = hdMix(hdNameMain^0x6f6c64, uint64(hd.olds))
	t.old = true
	hdScriptThread(t)
	return t
}

func hdMainThread() *hdThread { return &hd.threads[0] }

// hdControlled reports whether the goroutine is one of the program's own. The one that
// waits for signals counts as the runtime's.
func hdControlled(gp *g) bool {
	if gp == hd.runner || isSystemGoroutine(gp, false) {
		return false
	}
	if hdFuncName(gp.startpc) == "os/signal.loop" {
		hd.signals.set(gp)
		return false
	}
	return true
}

// hdGo is called before the go statement creates a goroutine.
func hdGo(fn *funcval) {
	gp := getg()
	if !hd.active || fn == nil || hdThreadOf(gp) == nil {
		return
	}
	hdPoint(hdOpGo, fn.fn, 0, 0)
}

// hdBorn is called when a goroutine has been created.
func hdBorn(gp, parent *g) {
	gp.hd = nil
	if !hd.active || !hdControlled(gp) {
		return
	}
	by := hdThreadOf(parent)
	if by == nil {
		// Timers run on behalf of nobody; what a goroutine that is not controlled
		// creates has no better parent either.
		by = hdClock()
	}
	if hd.record && !(by.pend.op == hdOpGo && by.pend.value == uint64(hd.nthreads)) {
		// No go statement: a timer, a coroutine, a bubble of testing/synctest.
		p := hdPend{op: hdOpGo, pc: gp.gopc, obj: gp.startpc, value: uint64(hd.nthreads)}
		hdRecord(by, &p, hdEvNochoice)
	}
	t := hdNewThread(gp, by, gp.startpc, gp.gopc)
	t.pend = hdPend{op: hdOpThreadStart, pc: gp.startpc, obj: gp.startpc}
	t.state = hdBlocked // until it is put into a run queue
}

// hdPoint stops the goroutine before operation op.
func hdPoint(op uint16, obj, aux uintptr, value uint64) {
	hdPointAt(op, obj, aux, value, 0, sys.GetCallerPC(), hdDepth(getcallerfp()))
}

// hdStops reports whether the goroutine is in a state in which it can be stopped.
//
//go:nosplit
func hdStops(gp *g) *hdThread {
	if !hd.active {
		return nil
	}
	t := hdThreadOf(gp)
	if t == nil || t.state != hdRunning || gp != gp.m.curg || gp.m.locks != 0 || gp.m.mallocing != 0 || gp.throwsplit || gp.m.preemptoff != "" || gp.m.dying != 0 {
		return nil
	}
	return t
}

// hdPointAt is hdPoint with the place in the runtime, or in a package whose places do not
// count, from where the program's own instruction is looked for.
func hdPointAt(op uint16, obj, aux uintptr, value uint64, size uint32, pc, fp uintptr) {
	gp := getg()
	t := hdStops(gp)
	if t == nil {
		return
	}
	var go_ bool
	systemstack(func() {
		t.pend = hdPend{op: op, size: size, obj: obj, aux: aux, value: value, pc: hdWhere(pc, fp, hdSkipLibrary)}
		switch op {
		case hdOpThreadStart:
			t.pend.pc = obj
		case hdOpAtomicRmw:
			if hd.adds {
				t.pend.result = 1
			}
		}
		if hd.record {
			t.pend.stack = hdStack(gp, pc, fp, t.pend.pc)
		}
		t.quiet = 0
		switch op {
		case hdOpRead, hdOpAtomicLoad, hdOpGosched, hdOpSelect, hdOpChanSend, hdOpChanRecv:
		default:
			t.stale = 0
		}
		if !hdSpinning(t) {
			hd.progress = hd.points
		}
		hdArrive(t)
		hd.next = hdChoose()
		go_ = hd.next == t
		if go_ {
			hd.next = nil
		}
	})
	if !go_ {
		mcall(hdSwitch)
	}
}

// hdSwitch lets the chosen one run instead of gp, on gp's scheduler stack.
func hdSwitch(gp *g) {
	t := gp.hd
	if t.state == hdRunning {
		t.state = hdReady
	}
	casgstatus(gp, _Grunning, _Grunnable)
	dropg()
	schedule()
}

// hdArrive is where a thread comes to a scheduling point.
func hdArrive(t *hdThread) {
	hd.points++
	if hd.points-hd.progress > hdHopeless && hd.points-hd.progress > hdHopeless*uint64(hdReadyCount()) && hdTimer() == 0 {
		// Everybody who can run has had the chance to change something.
		hdMessage("no progress")
		hdFail(hdOutHang, 0, t.pend.pc)
	}
	if hd.points > uint64(hd.plan.MaxSteps) {
		hdMessage("the step budget is used up")
		hdFail(hdOutHang, 0, t.pend.pc)
	}
	if hd.points&0xffff == 0 {
		atomic.Xadd64(&hd.shm.Heartbeat, 1)
	}
	hdArrived(t)
	hdDraw(t)
}

// hdHopeless is how many points in a row, for each goroutine that can run, may be spent
// on spinning.
const hdHopeless = 4000

func hdReadyCount() int {
	n := 0
	for w := range hd.nwords {
		n += sys.OnesCount64(hd.enabled[w])
	}
	return n
}

func hdAny() bool {
	for w := range hd.nwords {
		if hd.enabled[w] != 0 {
			return true
		}
	}
	return false
}

// hdTimer is when the next timer is due, 0 for never. Timers that were stopped or changed
// are put right first: when the runtime gets to that does not depend on the schedule alone.
//
//go:yeswritebarrierrec
func hdTimer() int64 {
	ts := &getg().m.p.ptr().timers
	if ts.zombies.Load() != 0 || ts.minWhenModified.Load() != 0 {
		ts.lock()
		ts.adjust(0, true)
		ts.unlock()
	}
	return ts.wakeTime()
}

// hdSlack is how close a timer may be, in virtual ns, to count as due: no machine wakes
// anybody on time, and who is served first of those that are close is open.
const hdSlack = 20e3

// hdPatience is the number of points after which time moves though somebody can go on.
const hdPatience = 20000

// hdSoon is how early a timer may fire, in virtual ns, unless the user says otherwise: what
// a machine under load makes of any program.
const hdSoon = 20e6

// hdMayHurry reports whether the next timer may fire though others could go on. By default
// only one that calls a function: those that a goroutine waits for, in a sleep or a
// receive, are most often guards or guesses of how long others take.
func hdMayHurry(when int64) bool {
	if hd.hurry {
		return true
	}
	ts := &getg().m.p.ptr().timers
	if len(ts.heap) == 0 || ts.heap[0].when != when || when-hd.vnow > hdSoon {
		return false
	}
	t := ts.heap[0].timer
	f := t.f
	sleep := goroutineReady
	return !t.isChan && **(**uintptr)(unsafe.Pointer(&f)) != **(**uintptr)(unsafe.Pointer(&sleep))
}

// hdChoose picks who does the next operation, and does what that means for the schedule.
// Somebody can go on, or there is a timer.
func hdChoose() *hdThread {
	fire, must := false, false
	if when := hdTimer(); when != 0 {
		// A timer that is due, or nearly, fires when it is chosen. Time moves on to the next when nobody
		// else can; when the plan says that a timer may be early; and now and then in a long
		// stretch, or who polls would wait for ever.
		fire = when <= hd.vnow+hdSlack || hdScriptFires() || !hdAny()
		if hd.points-hd.timed > hdPatience || hd.plan.Flags&hdPlanTimeouts != 0 && hd.pos >= hd.plan.Nsteps && hdRandom()&15 == 0 && hdMayHurry(when) {
			fire, must = true, true
		}
	}
	if fire {
		hdAdd(&hd.enabled, hdClock().index)
	}
	for w := range hd.nwords {
		hd.decision[w] = hd.enabled[w]
	}
	i := int32(-1)
	if hd.pos < hd.plan.Nsteps {
		i = hdScriptChoose()
	}
	switch {
	case i >= 0:
	case must:
		i = int32(hd.clock.index)
	default:
		i = int32(hdPolicyChoose())
	}
	if fire {
		hdDel(&hd.enabled, hd.clock.index)
	}
	t := &hd.threads[i]
	hdCommit(t)
	return t
}

// hdStepTime is the virtual time that an operation takes, in ns.
const hdStepTime = 100

// hdCommit makes t the one that runs, and its pending operation an event.
func hdCommit(t *hdThread) {
	if hd.lastRan != t.index {
		if hd.lastRan != ^uint32(0) {
			hd.switches++
			if hdHas(&hd.decision, hd.lastRan) {
				hd.preempt++
			}
		}
		hd.lastRan = t.index
		t.since = hd.points
	}
	hd.vnow += hdStepTime
	p := &t.pend
	switch p.op {
	case hdOpGo:
		p.value = uint64(hd.nthreads)
	case hdOpSelect:
		if t.choice == 0 && p.size > 0 {
			t.choice = 1 + uint32(hdRandom()>>32%uint64(p.size))
		}
		p.aux = uintptr(t.choice)
	case hdOpTimerFire:
		when := hdTimer()
		p.value = uint64(when)
		hd.vnow = max(hd.vnow, when)
		hd.vfire = when
		hd.timed = hd.points
		hdDraw(t)
	case hdOpAtomicLoad, hdOpAtomicStore, hdOpAtomicRmw, hdOpAtomicCas:
		hdAtomicEffect(p)
	}
	hdCoverage(t)
	if hd.record {
		hdRecord(t, p, 0)
	}
	hdDone(t)
	t.state = hdRunning
	hd.cur = t
}

// ---- hooks in Go's scheduler

// hdTake is called where a goroutine is put into a run queue. It reports whether heddle
// keeps it instead.
func hdTake(gp *g) bool {
	if !hd.active {
		return false
	}
	if getg().m.p == 0 {
		if t := hdThreadOf(gp); t == nil && !hdControlled(gp) {
			return false
		}
		lock(&hd.lock)
		hd.inbox.push(gp)
		hd.inboxed.Add(1)
		unlock(&hd.lock)
		return true
	}
	t := hdThreadOf(gp)
	if t == nil {
		if !hdControlled(gp) {
			return false
		}
		t = hdOldThread(gp)
		t.state = hdBlocked
		t.pend.op = hdOpGosched
	}
	switch {
	case t == hd.cur && (t.state == hdRunning || t.held):
		t.held = true // interrupted: it goes on before anybody is chosen
	case t.state == hdReady:
		// It had stopped at a point.
	default:
		if t.pend.op != hdOpThreadStart {
			op := uint64(t.pend.op)
			switch {
			case t.state == hdOutside:
				op = hdOpOutside
			case t.pend.op == hdOpResume: // blocked again in the same operation
				op = t.pend.value
			}
			t.pend = hdPend{op: hdOpResume, pc: t.pend.pc, stack: t.pend.stack, obj: t.pend.obj, value: op}
			hdDraw(t)
		}
		t.state = hdReady
		hdAdd(&hd.enabled, t.index)
	}
	return true
}

// hdTakeList is hdTake for goroutines that are about to be made ready together.
func hdTakeList(list *gList) {
	if !hd.active {
		return
	}
	var rest gList
	for !list.empty() {
		gp := list.pop()
		if t := hdThreadOf(gp); t != nil || hdControlled(gp) {
			casgstatus(gp, _Gwaiting, _Grunnable)
			hdTake(gp)
		} else {
			rest.push(gp)
		}
	}
	for !rest.empty() {
		list.push(rest.pop())
	}
}

// hdParked is called when a goroutine has been parked.
func hdParked(gp *g) {
	if !hd.active {
		return
	}
	t := hdThreadOf(gp)
	if t == nil || readgstatus(gp)&^_Gscan != _Gwaiting {
		return // or its own parking made it ready, as in a bubble of testing/synctest
	}
	switch gp.waitreason {
	case waitReasonGCAssistMarking, waitReasonGCAssistWait, waitReasonGCSweepWait, waitReasonGarbageCollection,
		waitReasonWaitForGCCycle, waitReasonPreempted, waitReasonDumpingHeap, waitReasonGCScavengeWait:
		t.held = true
		return
	case waitReasonIOWait:
		t.pend.op = hdOpOutside
		t.pend.obj = 0
		pc, fp := gp.sched.pc, gp.stack.hi-gp.sched.bp
		t.pend.pc = hdWhereOf(gp, pc, fp, hdSkipIO)
		if hd.record {
			t.pend.stack = hdStack(gp, pc, fp, t.pend.pc)
		}
	}
	t.state = hdBlocked
	hdDel(&hd.enabled, t.index)
}

// hdEnds is called in a goroutine's own name when its function has returned.
func hdEnds() {
	gp := getg()
	t := hdThreadOf(gp)
	if !hd.active || t == nil {
		return
	}
	hdPointAt(hdOpThreadEnd, t.entry, 0, 0, 0, t.entry, 0)
}

// hdDied is called when a goroutine is being destroyed.
func hdDied(gp *g) {
	if !hd.active {
		return
	}
	if t := hdThreadOf(gp); t != nil {
		t.state = hdEnded
		t.held = false
		hdDel(&hd.enabled, t.index)
	}
}

// hdCoro is called when a goroutine hands its thread of control to another without the
// scheduler, as iterators do.
func hdCoro(to *g) {
	if !hd.active {
		return
	}
	from, t := hd.cur, hdThreadOf(to)
	if t == nil || from == nil {
		return
	}
	if from.state != hdEnded {
		from.state = hdBlocked
		hdDel(&hd.enabled, from.index)
	}
	if hd.record {
		p := hdPend{op: hdOpCoroSwitch, pc: from.pend.pc, value: uint64(t.index)}
		hdRecord(from, &p, hdEvNochoice)
	}
	t.state = hdRunning
	hdAdd(&hd.enabled, t.index)
	hd.cur = t
	hd.lastRan = t.index
}

// hdYield is Gosched under heddle.
func hdYield() bool {
	if hdStops(getg()) == nil {
		return false
	}
	hdPointAt(hdOpGosched, 0, 0, 0, 0, sys.GetCallerPC(), hdDepth(getcallerfp()))
	return true
}

// hdHeld reports whether a goroutine that comes back from a system call must not go on
// without being chosen.
func hdHeld(gp *g) bool {
	if !hd.active {
		return false
	}
	t := hdThreadOf(gp)
	return t != nil && t.state != hdRunning
}

// hdBlocks is called before a system call that is known to wait.
//
//go:nosplit
func hdBlocks() {
	if !hd.active {
		return
	}
	if t := hdThreadOf(getg()); t != nil && t.state == hdRunning {
		hd.outside = true
		t.state = hdOutside
		hdDel(&hd.enabled, t.index)
	}
}

// hdFind is the scheduler's last resort before it steals or sleeps: what runs on behalf of
// the runtime has had its turn. It returns the goroutine to run, or nil and true to look
// again from the start, or nil and false if heddle has nothing to do with it.
func hdFind() (*g, bool) {
	if !hd.active {
		return nil, false
	}
	if hd.inboxed.Load() != 0 {
		lock(&hd.lock)
		for !hd.inbox.empty() {
			gp := hd.inbox.pop()
			hd.inboxed.Add(-1)
			unlock(&hd.lock)
			hdTake(gp)
			lock(&hd.lock)
		}
		unlock(&hd.lock)
	}
	if t := hd.next; t != nil {
		hd.next = nil
		return hdRun(t)
	}
	if hdSignalled(!hdAny()) {
		usleep(20)
		return nil, true
	}
	t := hd.cur
	if t.held {
		gp := t.gp.ptr()
		if readgstatus(gp)&^_Gscan == _Grunnable {
			t.held = false
			t.state = hdRunning
			return gp, false
		}
		usleep(20) // until the collector lets it go on
		return nil, true
	}
	if t.state == hdRunning && t != hd.clock {
		// It holds the token and does not run: it is in a system call.
		gp := t.gp.ptr()
		s := readgstatus(gp) &^ _Gscan
		if s == _Grunnable {
			return gp, false
		}
		now := nanotime()
		if hd.released == 0 {
			hd.released = now
		}
		if now-hd.released < 20e6 {
			usleep(20)
			return nil, true
		}
		mp := gp.m
		if mp == nil {
			return nil, true // it has just come back
		}
		if state := hdTaskState(mp.procid); state != 0 && state != 'S' {
			// It is at work, and the machine is busy.
			hd.released = now
			return nil, true
		}
		// It lasts: others go on. The one place where an execution depends on real time.
		hd.outside = true
		t.state = hdOutside
		hdDel(&hd.enabled, t.index)
	}
	hd.released = 0
	if netpollinited() && netpollAnyWaiters() {
		hdPoll(0)
	}
	if hdAny() || hdMayFire() {
		hd.points++
		if hd.points > uint64(hd.plan.MaxSteps) {
			hdMessage("the step budget is used up")
			hdFail(hdOutHang, 0, hd.cur.pend.pc)
		}
		return hdRun(hdChoose())
	}
	return hdIdle()
}

// hdMayFire reports whether time may move.
func hdMayFire() bool {
	when := hdTimer()
	if when == 0 {
		return false
	}
	if hd.settling {
		hd.fires++
		return when <= hd.settled && hd.fires < hdLastFires
	}
	return true
}

func hdRun(t *hdThread) (*g, bool) {
	if t == hd.clock {
		return nil, true // the scheduler runs timers that are due
	}
	return t.gp.ptr(), false
}

// hdPoll makes goroutines ready whose network operations can go on.
func hdPoll(delay int64) bool {
	list, delta := netpoll(delay)
	some := !list.empty()
	hdTakeList(&list)
	for !list.empty() {
		gp := list.pop()
		casgstatus(gp, _Gwaiting, _Grunnable)
		runqput(getg().m.p.ptr(), gp, false)
	}
	netpollAdjustWaiters(delta)
	return some
}

// hdIdle is where nobody can go on and no timer is due.
func hdIdle() (*g, bool) {
	outside := false
	for i := range hd.nthreads {
		if hd.threads[i].state == hdOutside {
			outside = true
		}
	}
	if hd.settling && !outside {
		t := hdMainThread()
		gp := t.gp.ptr()
		casgstatus(gp, _Gwaiting, _Grunnable)
		t.state = hdRunning
		hd.cur = t
		return gp, false
	}
	if outside {
		hd.outside = true
		usleep(50)
		return nil, true
	}
	if netpollinited() && netpollAnyWaiters() {
		// The other side may be this program, a moment ago, or somebody else.
		if hdPoll(1e6) {
			return nil, true
		}
		if hd.released == 0 {
			hd.released = nanotime()
		}
		hd.outside = true
		if nanotime()-hd.released < 2e9 {
			return nil, true
		}
	}
	hdFail(hdOutDeadlock, 0, hd.cur.pend.pc)
	return nil, true
}

// hdLeaks reports whether goroutines of this execution are left, but for those that the
// user allows.
func hdLeaks() bool {
	for i := uint32(1); i < hd.nthreads; i++ {
		if hdLeaked(&hd.threads[i]) {
			return true
		}
	}
	return false
}

// hdLeft reports whether any goroutines of this execution are left.
func hdLeft() bool {
	for i := uint32(1); i < hd.nthreads; i++ {
		if t := &hd.threads[i]; t != hd.clock && t.state != hdEnded && !t.old {
			return true
		}
	}
	return false
}

func hdLeaked(t *hdThread) bool {
	if t.index == 0 || t == hd.clock || t.state == hdEnded || t.old {
		return false
	}
	rest := hd.leakIgnore
	entry, created := hdFuncName(t.entry), hdFuncName(t.created)
	for rest != "" {
		one := rest
		for i := range len(rest) {
			if rest[i] == '\n' {
				one = rest[:i]
				break
			}
		}
		if len(one) < len(rest) {
			rest = rest[len(one)+1:]
		} else {
			rest = ""
		}
		if one != "" && (hdContains(entry, one) || hdContains(created, one)) {
			return false
		}
	}
	return true
}

func hdContains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

func hdFuncName(pc uintptr) string {
	f := findfunc(pc)
	if !f.valid() {
		return ""
	}
	return funcname(f)
}

// hdWaiters reports the goroutines that have not ended.
func hdWaiters(outcome uint32) {
	for i := range hd.nthreads {
		t := &hd.threads[i]
		if t == hd.clock || t.state == hdEnded || t.index == 0 && outcome == hdOutLeak || t.old && t.pend.op != hdOpResume || outcome == hdOutLeak && !hdLeaked(t) {
			continue
		}
		w := hdWaiter{Thread: i, Op: t.pend.op, Pc: uint64(t.pend.pc), Object: hdObject(t.pend.obj)}
		if t.pend.op == hdOpResume {
			w.Op = uint16(t.pend.value)
		}
		if t.state == hdReady || t.state == hdRunning {
			w.Flags = hdWaitReady
		}
		if gp := t.gp.ptr(); gp != nil && t.state == hdBlocked {
			w.Stack = hdStack(gp, gp.sched.pc, gp.stack.hi-gp.sched.bp, t.pend.pc)
		}
		if o := hdOwner(t.pend.obj); o != 0 && (w.Op >= hdOpGmutexLock && w.Op <= hdOpRwUnlock) {
			w.Holder = o
		}
		hdOut(hdRecWaiter, unsafe.Pointer(&w), hdSizeofWaiter)
	}
}

// hdFuncPC is where a function begins.
func hdFuncPC(fn func()) uintptr { return abi.FuncPCABIInternal(fn) }
