//go:build heddle

// Threads and scheduling points. A goroutine stops before each operation, with the operation
// pending; an enabled one is chosen and performs its operation. The hooks in Go's own scheduling of
// goroutines are in heddle_hooks.go.
package runtime

import (
	"internal/goarch"
	"internal/runtime/sys"
	"unsafe"
)

//go:nosplit
func hdHas(s *[hdWords]uint64, i uint32) bool { return s[i/64]>>(i%64)&1 != 0 }

//go:nosplit
func hdAdd(s *[hdWords]uint64, i uint32) { s[i/64] |= 1 << (i % 64) }

//go:nosplit
func hdDel(s *[hdWords]uint64, i uint32) { s[i/64] &^= 1 << (i % 64) }

// hdThreadOf returns the thread of goroutine gp in this execution, nil if gp is not controlled.
//
//go:nosplit
func hdThreadOf(gp *g) *hdThread {
	t := gp.hd
	if t == nil || t.goid != gp.goid {
		return nil
	}
	return t
}

// hdAddThread returns a new thread; gp is nil for the clock.
func hdAddThread(gp *g, parent, nth uint32, name uint64, entry, created uintptr) *hdThread {
	if hd.born == hdPlanThreads {
		hdMessage("threads")
		hdFail(hdOutUnfinished, 0, created)
	}
	i := hdSlotGet()
	if i == ^uint32(0) {
		hdMessage(hdTooMany)
		hdFinish(hdOutUnsupported, 0, created, true)
		exit(2)
	}
	t := &hd.threads[i]
	*t = hdThread{index: i, number: hd.born, parent: parent, nth: nth, name: name, entry: entry, created: created, state: hdReady, acted: hd.points}
	hd.born++
	t.random = hdMix(hdSeed(&hd.plan)+hd.index, name)
	t.own = hdMix(0, name)
	if gp != nil {
		t.gp.set(gp)
		t.goid = gp.goid
		gp.hd = t
	}
	if hd.alone && i != 0 {
		hdWatchOthers()
	}
	t.prio = hdFresh()
	hdScriptThread(t)
	if gp != nil {
		hdPolicyWeigh(t, parent)
	}
	if hd.plan.Nholds != 0 {
		hdHoldsThread(t)
	}
	if hd.record {
		hdRecordSlot(t)
	}
	return t
}

// hdChild returns the thread of a goroutine that parent has created. Its name is formed from
// parent's and its index among parent's children.
func hdChild(gp *g, parent *hdThread) *hdThread {
	parent.children++
	t := hdAddThread(gp, parent.number, parent.children, hdMix(parent.name, uint64(parent.children)), gp.startpc, gp.gopc)
	hdOrderChild(parent, t)
	return t
}

// hdClock returns the thread whose operations are timers firing.
func hdClock() *hdThread {
	if hd.clock == nil {
		hd.clock = hdAddThread(nil, 0, 0, hdNameMain^0x636c6f636b, 0, 0)
		hd.clock.pend = hdPend{op: hdOpTimerFire}
	}
	return hd.clock
}

// hdOldThread adds a goroutine that existed before the execution began and becomes active now. In
// traces the clock creates and starts it: no go statement of the execution did.
func hdOldThread(gp *g) *hdThread {
	by := hdClock()
	hdRecordGo(by, gp)
	t := hdChild(gp, by)
	t.old = true
	t.finalizes = hdFinalizes(gp)
	hdRecordStart(t)
	return t
}

// hdRecordGo records that by creates the next goroutine, gp, without a recorded go statement.
func hdRecordGo(by *hdThread, gp *g) {
	if hd.settle.recorded || hd.record {
		p := hdPend{op: hdOpGo, pc: gp.gopc, obj: gp.startpc, value: uint64(hd.born)}
		hdRecord(by, &p, hdEvNodecision)
	}
}

// hdRecordStart records that t starts without a scheduling decision.
func hdRecordStart(t *hdThread) {
	if hd.record {
		p := hdPend{op: hdOpThreadStart, pc: t.entry, obj: t.entry}
		hdRecord(t, &p, hdEvNodecision)
	}
}

// hdFinalizes reports whether gp is one of the runtime's goroutines that run finalizers and
// cleanups.
func hdFinalizes(gp *g) bool {
	switch hdFuncName(gp.startpc) {
	case "runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups":
		return true
	}
	return false
}

func hdMainThread() *hdThread { return &hd.threads[0] }

// hdPoint stops the goroutine before operation op.
func hdPoint(op uint16, obj, aux uintptr, value uint64) {
	hdPointAt(op, obj, aux, value, 0, sys.GetCallerPC(), hdDepth(getcallerfp()))
}

// hdStops returns the thread of gp if gp is in a state in which it can be stopped, nil otherwise.
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

// hdPointAt is hdPoint with the frame from which the search for the program's own instruction
// starts: in the runtime, or in another package of the library.
func hdPointAt(op uint16, obj, aux uintptr, value uint64, size uint32, pc, fp uintptr) {
	t := hdStops(getg())
	if t == nil {
		return
	}
	var changes bool
	systemstack(func() { changes = hdStop(t, op, obj, aux, value, size, pc, fp) })
	if changes {
		mcall(hdSwitch)
	}
}

// hdStop stops the running thread t before operation op, on the scheduler's stack. It reports
// whether another goroutine must run next; t must then switch with hdSwitch.
func hdStop(t *hdThread, op uint16, obj, aux uintptr, value uint64, size uint32, pc, fp uintptr) bool {
	t.pend = hdPend{op: op, size: size, obj: obj, aux: aux, value: value, pc: hdWhere(pc, fp, hdSkipLibrary)}
	switch op {
	case hdOpThreadStart:
		t.pend.pc = obj
	case hdOpTimerReset, hdOpGsleep:
		if hd.alone {
			hdWatchOthers()
		}
	case hdOpAtomicRmw:
		if hd.adds {
			t.pend.result = 1
		}
	}
	if hd.record {
		t.pend.stack = hdStack(t.gp.ptr(), pc, fp, t.pend.pc)
	}
	if hd.states && hd.late && op != hdOpGsleep { // its frame has the time at which it ends
		hdRecordState(t)
	}
	looked := t.quiet > 0
	t.quiet, t.looks = 0, 0
	if !hd.forced {
		t.stretches = 0
	}
	hdJudge(t, op, obj, t.pend.pc, looked)
	hdArrive(t)
	hd.next = hdChoose()
	if hd.next == t {
		hd.next = nil
		return false
	}
	return true
}

// hdRecordState records, for HD_PLAN_STATES, a hash of the running goroutine's stack. A function keeps nothing in registers when
// it calls another one. The frames of the hooks belong to it; what they do depends on the execution alone.
func hdRecordState(t *hdThread) {
	gp := t.gp.ptr()
	h := uint64(0)
	for at := gp.sched.sp; at < gp.stack.hi; at += goarch.PtrSize { // where the goroutine went over to the scheduler's stack
		h = hdMix(h, *(*uint64)(unsafe.Pointer(at)))
	}
	p := hdPend{op: hdOpState, pc: t.pend.pc, value: h}
	hdRecord(t, &p, hdEvNodecision)
}

// hdSwitch runs the chosen goroutine instead of gp, on gp's scheduler stack.
func hdSwitch(gp *g) {
	t := gp.hd
	if t.state == hdRunning {
		t.state = hdReady
	}
	casgstatus(gp, _Grunning, _Grunnable)
	dropg()
	schedule()
}

// hdArrive is called when a thread reaches a scheduling point.
func hdArrive(t *hdThread) {
	hd.points++
	hdBudget(t)
	if !hd.forced { // a sign of life
		hd.shm.Heartbeat++ // one goroutine runs at a time: there is no other writer
	}
	hd.shm.AtPc, hd.shm.AtThread, hd.shm.AtPoints = uint64(t.pend.pc), t.number, uint32(hd.points)
	t.forced, hd.forced = hd.forced, false
	if hd.shm.Cut == hdCutWhere {
		hdTellWhere(t, 0)
	}
	hdPolicyArrive(t)
	if hd.plan.Nholds != 0 {
		hdHoldsArrive(t)
	}
}

// hdBudget ends the execution, at t's operation, if its step budget is used up or the controller asked for its end. An execution
// that is to be cut ends as if the program ended there, and, if its test has failed, at once.
func hdBudget(t *hdThread) {
	if hd.quit {
		hdCut(t.pend.pc)
		exit(2)
	}
	cut := hd.plan.Flags&hdPlanCut != 0 && !hd.warm
	if hd.settle.phase == hdSettleNone && (hd.points > hd.budget || cut && hdTestFailed.site != 0) {
		if cut {
			hd.result.Notes |= hdNoteCut
			hdFinish(hdOutClean, hd.plan.ExpectStatus, t.pend.pc, true)
			exit(0)
		}
		hdMessage("step budget")
		hdFail(hdOutUnfinished, 0, t.pend.pc)
	}
}

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

// hdTimer returns when the next timer is due, 0 for never. It first adjusts timers that were
// stopped or changed: when the runtime does that does not depend on the schedule alone.
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

// hdPolled is the number of points after which, once the test has ended, time advances to the next timer although
// goroutines are enabled. A goroutine may poll in a way that heddle does not recognise.
const hdPolled = 20000

// hdTimeLong lets time pass in the fair phase although goroutines are at work: a program that runs until a certain time
// has passed does not hang.
func hdTimeLong() {
	if hd.points%hdLongEvery != 0 {
		return
	}
	if hd.longSince == 0 {
		hd.longSince = hd.vnow
	}
	if hd.vnow>>hdLongBits == 0 {
		hd.vnow += (hd.vnow - hd.longSince) / hdLongShare
	}
	hd.vnow += hdLongNs
}

// hdChoose picks the thread that performs the next operation, and updates time and the schedule. A
// thread is enabled, or a timer exists.
func hdChoose() *hdThread {
	if hdSettled() {
		return hdSettleOver()
	}
	hdStuckLook()
	lingers := hd.settle.phase == hdSettleLingers
	if !lingers {
		hdFairPhase()
		if hd.late {
			hdTimeLong()
		}
	}
	fire, must := false, false
	if when := hdTimer(); when != 0 {
		// A timer that is due, or nearly, fires when it is chosen. Time advances to the
		// next timer when no other thread is enabled, or when the plan or its script lets a
		// timer fire early.
		fire = when <= hd.vnow+hdPointNs+hdDue || hdScriptOvertakes(when) || !hdAny()
		early := !lingers && !hd.late && hd.plan.Flags&hdPlanTimeouts != 0 && hd.pos >= hd.plan.Nsteps && hdRandom()%hdEarlyTimerOdds == 0 && hdMayOvertake(when)
		if early || lingers && hd.points-hd.timed > hdPolled {
			fire, must = true, true
		}
	}
	if fire {
		hdAdd(&hd.enabled, hdClock().index)
	}
	for w := range hd.nwords {
		hd.decision[w] = hd.enabled[w]
	}
	if hd.plan.Nholds != 0 {
		hdHoldsLook(lingers)
	}
	i, script := int32(-1), false
	if !lingers && hd.pos < hd.plan.Nsteps {
		i = hdScriptChoose()
		script = i >= 0
	}
	if i < 0 && !fire && hd.plan.Nholds != 0 && hdTimer() != 0 && hdMayOvertake(hdTimer()) && hdHoldsWait() {
		fire, must = true, true
		c := hdClock().index
		hdAdd(&hd.enabled, c)
		hdAdd(&hd.decision, c)
	}
	switch {
	case i >= 0:
	case must:
		i = int32(hd.clock.index)
	case lingers:
		i = int32(hdChooseFair())
	default:
		i = int32(hdPolicyChoose())
	}
	if fire {
		hdDel(&hd.enabled, hd.clock.index)
	}
	t := &hd.threads[i]
	if hd.plan.Nholds != 0 {
		hdHoldsChosen(t, script)
	}
	hdCommit(t)
	return t
}

// hdCommit makes t the running thread, and its pending operation an event.
func hdCommit(t *hdThread) {
	if hd.lastRan != t.index {
		if hd.lastRan != ^uint32(0) {
			hd.switches++
			if hdHas(&hd.decision, hd.lastRan) {
				hd.preempt++
			}
		}
		hd.lastRan = t.index
		hd.since = hd.points
	}
	if t.computes {
		t.computes = false
		hd.ncomputing--
	}
	hd.vnow += hdPointNs
	t.ran, t.acted = hd.points, hd.points
	flags := uint32(0)
	if t.forced {
		flags = hdEvForced
		t.forced = false
	}
	p := &t.pend
	switch p.op {
	case hdOpGo:
		p.value = uint64(hd.born)
	case hdOpSelect:
		if t.choice == 0 && p.size > 0 {
			t.choice = 1 + uint32(hdRandom()>>32%uint64(p.size))
		}
		p.aux = uintptr(t.choice)
	case hdOpTimerFire:
		when := hdTimer()
		p.value = uint64(max(when-hd.began, 0))
		if hdOvertakes(when) {
			flags |= hdEvTimeout
			hdDel(&hd.decision, t.index)
		}
		hd.vnow = max(hd.vnow, when)
		hd.vfire = when
		hd.timed = hd.points
		hd.settle.fires++
		hdPolicyArrive(t)
	case hdOpAtomicLoad, hdOpAtomicStore, hdOpAtomicRmw, hdOpAtomicCas:
		hdAtomicEffect(p)
	case hdOpChanSend, hdOpChanRecv:
		if p.value != 0 && hdWouldWait((*hchan)(unsafe.Pointer(p.obj)), p.op == hdOpChanSend) {
			p.result = int32(_EAGAIN) // the select takes its default
		}
	}
	hdSignature(t)
	if hd.watching {
		hdWatchEvent(t, p)
	}
	if hd.record {
		hdRecord(t, p, flags)
	}
	hdDone(t)
	if hd.plan.Nholds != 0 {
		hdHoldsDone(t, flags)
	}
	t.state = hdRunning
	if hd.cur = t; t != hd.clock {
		hd.turn = t
	}
}
