//go:build heddle

// Threads and scheduling points. A goroutine stops before each operation with the operation
// pending; one that can go on is chosen, and does its operation. What Go's scheduler does
// with goroutines besides is in heddle_hooks.go.
package runtime

import (
	"internal/runtime/sys"
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

// hdAddThread is a new thread; gp is nil for the one that is not a goroutine.
func hdAddThread(gp *g, parent, nth uint32, name uint64, entry, created uintptr) *hdThread {
	i := hdSlotGet()
	if i == ^uint32(0) {
		hdMessage(hdTooMany)
		hdFinish(hdOutUnsupported, 0, created, true)
		exit(2)
	}
	t := &hd.threads[i]
	*t = hdThread{index: i, number: hd.born, parent: parent, nth: nth, name: name, entry: entry, created: created, state: hdReady}
	hd.born++
	t.random = hdMix(hd.plan.Seed+hd.index, name)
	if gp != nil {
		t.gp.set(gp)
		t.goid = gp.goid
		gp.hd = t
	}
	t.prio = hdFresh()
	hdScriptThread(t)
	if hd.record {
		hdRecordSlot(t)
	}
	return t
}

// hdChild is the goroutine that parent has created, named by that and as which of its
// children.
func hdChild(gp *g, parent *hdThread) *hdThread {
	parent.children++
	return hdAddThread(gp, parent.number, parent.children, hdMix(parent.name, uint64(parent.children)), gp.startpc, gp.gopc)
}

// hdClock is the thread whose operations are that timers fire.
func hdClock() *hdThread {
	if hd.clock == nil {
		hd.clock = hdAddThread(nil, 0, 0, hdNameMain^0x636c6f636b, 0, 0)
		hd.clock.pend = hdPend{op: hdOpTimerFire}
	}
	return hd.clock
}

// hdOldThread takes in a goroutine that was there before the execution began and makes
// itself felt now. It has no parent.
func hdOldThread(gp *g) *hdThread {
	hd.olds++
	t := hdAddThread(gp, 0, 0, hdMix(hdNameMain^0x6f6c64, uint64(hd.olds)), gp.startpc, gp.gopc)
	t.old = true
	t.finalizes = hdFinalizes(gp)
	return t
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

// hdStop stops t, which runs, before operation op, on the scheduler's stack. It reports
// whether another goroutine is to go on; t must then leave with hdSwitch.
func hdStop(t *hdThread, op uint16, obj, aux uintptr, value uint64, size uint32, pc, fp uintptr) bool {
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
		t.pend.stack = hdStack(t.gp.ptr(), pc, fp, t.pend.pc)
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

// hdArrive is called when a thread reaches a scheduling point.
func hdArrive(t *hdThread) {
	hd.points++
	hdBudget(t)
	if !hd.forced { // a sign of life
		hd.shm.Heartbeat++ // one goroutine runs at a time, so nobody else writes
	}
	t.forced, hd.forced = hd.forced, false
	hdPolicyArrive(t)
}

// hdBudget ends the execution, at t's operation, if its step budget is used up.
func hdBudget(t *hdThread) {
	if hd.settle.phase == hdSettleNone && hd.points > hd.budget {
		hdMessage("the step budget is used up")
		hdFail(hdOutHang, 0, t.pend.pc)
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

// hdPolled is the number of points after which, late in an execution, time moves though
// somebody could go on: who polls in a way that nobody recognises waits for that, or has the
// step budget run out.
const hdPolled = 20000

// hdChoose picks who does the next operation, and does what that means for the schedule.
// Somebody can go on, or there is a timer.
func hdChoose() *hdThread {
	if hdSettled() {
		return hdSettleOver()
	}
	lingers := hd.settle.phase == hdSettleLingers
	fire, must := false, false
	if when := hdTimer(); when != 0 {
		// A timer that is due, or nearly, fires when it is chosen. Time moves on to the next
		// when nobody else can go on, and when the plan or its script says that a timer may be
		// early.
		fire = when <= hd.vnow+hdPointNs+hdDue || hdScriptOvertakes(when) || !hdAny()
		early := !lingers && hd.plan.Flags&hdPlanTimeouts != 0 && hd.pos >= hd.plan.Nsteps && hdRandom()%hdEarlyTimerOdds == 0 && hdMayOvertake(when)
		if early || (lingers || hdLate()) && hd.points-hd.timed > hdPolled {
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
	if !lingers && hd.pos < hd.plan.Nsteps {
		i = hdScriptChoose()
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
	hdCommit(t)
	return t
}

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
		hd.since = hd.points
	}
	if t.computes {
		t.computes = false
		hd.ncomputing--
	}
	hd.vnow += hdPointNs
	t.ran = hd.points
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
		p.value = uint64(when)
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
	}
	hdSignature(t)
	if hd.record {
		hdRecord(t, p, flags)
	}
	hdDone(t)
	t.state = hdRunning
	if hd.cur = t; t != hd.clock {
		hd.turn = t
	}
}
