//go:build heddle

// The hooks in Go's scheduler. A goroutine that the runtime parks leaves the set of enabled
// threads, and returns to it with a RESUME pending when it is made ready. When no goroutine runs,
// the scheduler calls hdFind to get the next.
package runtime

import (
	"internal/runtime/sys"
	"internal/stringslite"
	"unsafe"
)

// hdControlled reports whether the goroutine is one of the program's own. The goroutine that waits
// for signals counts as the runtime's.
func hdControlled(gp *g) bool {
	if gp == hd.runner || isSystemGoroutine(gp, false) {
		return false
	}
	if hdGroupOf(gp.startpc)&hdGroupSignals != 0 {
		hd.signals.set(gp)
		return false
	}
	return true
}

// hdGo is called before the go statement creates a goroutine.
func hdGo(fn *funcval) {
	gp := getg()
	if !hd.active || fn == nil || hdThreadOf(gp) == nil || hdGroupOf(fn.fn)&hdGroupSignals != 0 || stringslite.HasPrefix(hdFuncName(fn.fn), "runtime.") {
		return // the runtime's own goroutines do not count as threads (hdControlled)
	}
	hdPoint(hdOpGo, fn.fn, 0, 0)
}

// hdBorn is called when a goroutine has been created.
func hdBorn(gp, parent *g) {
	gp.hd = nil
	if !hd.active || !hdControlled(gp) {
		return
	}
	// Of an earlier goroutine, the stack would have pointers to objects that this one cannot reach (heddle_stuck.go).
	memclrNoHeapPointers(unsafe.Pointer(gp.stack.lo), gp.sched.sp-gp.stack.lo)
	by := hdThreadOf(parent)
	if by == nil {
		// Timers run for no particular goroutine, and the clock is also the best available
		// parent for goroutines created by uncontrolled ones.
		by = hdClock()
	}
	if !(by.pend.op == hdOpGo && by.pend.value == uint64(hd.born)) || hd.settle.recorded {
		hdRecordGo(by, gp) // for a timer, as a coroutine, in a bubble of testing/synctest
	}
	t := hdChild(gp, by)
	t.pend = hdPend{op: hdOpThreadStart, pc: gp.startpc, obj: gp.startpc}
	t.state = hdBlocked // until it is put into a run queue
}

// hdTake is called where the runtime puts a goroutine into a run queue. It reports whether heddle
// keeps the goroutine instead.
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
		t.held = true // interrupted: it continues before the next scheduling decision
	case t.state == hdReady:
		// It is already at a scheduling point.
	default:
		if t.pend.op != hdOpThreadStart {
			op := uint64(t.pend.op)
			switch {
			case t.state == hdOutside:
				op = hdOpExternal
			case t.pend.op == hdOpResume: // blocked again in the same operation
				op = t.pend.value
			}
			t.pend = hdPend{op: hdOpResume, pc: t.pend.pc, stack: t.pend.stack, obj: t.pend.obj, value: op}
		}
		hdPolicyArrive(t)
		hdWakes(t)
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
		waitReasonWaitForGCCycle, waitReasonPreempted, waitReasonDumpingHeap, waitReasonGCScavengeWait, waitReasonGCWeakToStrongWait:
		t.held = true
		return
	case waitReasonIOWait:
		hdParkedIn(gp, t, hdOpExternal, hdSkipIO)
	case waitReasonSelectNoCases:
		hdParkedIn(gp, t, hdOpSelect, hdSkipLibrary)
		t.ncases = 0
	case waitReasonSynctestRun, waitReasonSynctestWait:
		hdParkedIn(gp, t, hdOpPark, hdSkipIO)
	default:
		if !hdParks(&t.pend) {
			hdParkedIn(gp, t, hdOpPark, hdSkipIO)
		}
	}
	t.state = hdBlocked
	hdDel(&hd.enabled, t.index)
	hdStuck.blocked = true
}

// hdParks reports whether p is an operation that may park its goroutine. Any other operation has
// finished: its goroutine is in a wait that has no hook.
func hdParks(p *hdPend) bool {
	switch p.op {
	case hdOpChanSend, hdOpChanRecv, hdOpSelect, hdOpGsleep, hdOpGmutexLock, hdOpRwLock, hdOpRwRlock,
		hdOpWgWait, hdOpGcondWait, hdOpOnceDo, hdOpPoolGet, hdOpPoolPut, hdOpSyncMap, hdOpTestEnd, hdOpResume:
		return true
	}
	return false
}

// hdParkedIn makes op the operation in which gp, the goroutine of t, is parked. Its place is the
// first instruction up the stack in a function that skip does not skip.
func hdParkedIn(gp *g, t *hdThread, op uint16, skip uint8) {
	pc, fp := gp.sched.pc, gp.stack.hi-gp.sched.bp
	t.pend = hdPend{op: op, pc: hdWhereOf(gp, pc, fp, skip)}
	if hd.record {
		t.pend.stack = hdStack(gp, pc, fp, t.pend.pc)
	}
}

// hdEnds runs in a goroutine whose function has returned.
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
		if hd.watched {
			hdTimesPut(&t.order.clock)
		}
		hdSlotRetire(t)
	}
}

// hdCoro is called when a goroutine switches to another without the scheduler, as iterators do.
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
		p := hdPend{op: hdOpCoroSwitch, pc: from.pend.pc, value: uint64(t.number)}
		hdRecord(from, &p, hdEvNodecision)
		if from.state == hdEnded {
			p = hdPend{op: hdOpThreadEnd, pc: from.entry, obj: from.entry}
			hdRecord(from, &p, hdEvNodecision)
		}
	}
	if t.pend.op == hdOpThreadStart && t.ran == 0 { // a coroutine that runs for the first time
		hdRecordStart(t)
		t.pend = hdPend{op: hdOpCoroSwitch, pc: t.pend.pc}
	}
	t.state = hdRunning
	hdAdd(&hd.enabled, t.index)
	hd.cur, hd.turn = t, t
	hd.lastRan = t.index
}

// hdYield implements Gosched under heddle.
func hdYield() bool {
	if hdStops(getg()) == nil {
		return false
	}
	hdPointAt(hdOpGosched, 0, 0, 0, 0, sys.GetCallerPC(), hdDepth(getcallerfp()))
	return true
}

// hdNumGoroutine stops the goroutine before it reads the number of goroutines: a program may poll
// until others have ended. In traces this is an atomic load of one of the runtime's counters, of size 1
// as no other atomic load is: goroutines that start and end change what it returns.
func hdNumGoroutine() {
	t := hdStops(getg())
	if t == nil {
		return
	}
	n := uint64(0)
	for i := range hd.nthreads {
		if hd.threads[i].state != hdEnded {
			n++
		}
	}
	hdFruitless(t, n)
	hdPointAt(hdOpAtomicLoad, uintptr(unsafe.Pointer(&allglen)), 0, 0, 1, sys.GetCallerPC(), hdDepth(getcallerfp()))
}

// hdHeld reports whether a goroutine that returns from a system call must wait to be chosen.
func hdHeld(gp *g) bool {
	if !hd.active {
		return false
	}
	t := hdThreadOf(gp)
	return t != nil && t.state != hdRunning
}

// hdBlocks is called before a system call that is known to block.
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

// The scheduler calls hdFind before it steals or sleeps, after the runtime's own goroutines have
// run. hdFind returns the goroutine to run; or nil and true to search again from the start; or nil
// and false if heddle controls nothing here.
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
		usleep(20) // until the collector releases it
		return nil, true
	}
	if t.state == hdRunning && t != hd.clock {
		// The token's holder does not run: it is in a system call. If it returns without
		// the P it is put into the inbox. Its status alone is not enough: when that becomes
		// runnable, the kernel thread may not have released the goroutine yet.
		gp := t.gp.ptr()
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
			return nil, true // it has just returned
		}
		if state := hdTaskState(mp.procid); state != 0 && state != 'S' {
			// It is working, and the machine is busy.
			hd.released = now
			return nil, true
		}
		// The call takes long: other goroutines run. This is the one place where an
		// execution depends on real time.
		hd.outside = true
		t.state = hdOutside
		hdDel(&hd.enabled, t.index)
	}
	hd.released = 0
	if netpollinited() && netpollAnyWaiters() {
		hdPoll(0)
	}
	if hdAny() {
		hd.idleAt = 0
	} else if hdAwaitsSystem() {
		usleep(50)
		return nil, true
	}
	if hdAny() || hdTimer() != 0 && !hdSettled() {
		// A goroutine that was blocked, or a timer that fired, has reached a scheduling
		// point; an ended one has not.
		if hd.cur.state != hdEnded {
			hd.points++
			hdBudget(hd.cur)
		}
		return hdRun(hdChoose())
	}
	return hdNobody()
}

// hdSystemWait is how long a timer waits at most, in real ns.
const hdSystemWait = 2e9

// hdAwaitsSystem reports whether the next timer must wait, although no goroutine is enabled,
// because one is in a system call, or because a child process is at work: what the program looks for from time to time
// may be the child's doing, also when a script fires the timers. Virtual time then advances no faster than real time.
func hdAwaitsSystem() bool {
	when := hdTimer()
	if when == 0 || hd.settle.phase != hdSettleNone {
		return false
	}
	if hdChildWorks() {
		hd.outside = true
	} else if hdScriptFires() || !hdAnyThread(func(t *hdThread) bool { return t.state == hdOutside }) {
		return false
	}
	now := nanotime()
	if hd.idleAt == 0 {
		hd.idleAt = now
	}
	return now-hd.idleAt < min(when-hd.vnow, hdSystemWait)
}

func hdRun(t *hdThread) (*g, bool) {
	if t == hd.clock {
		return nil, true // the scheduler runs timers that are due
	}
	return t.gp.ptr(), false
}

// hdPoll makes goroutines ready whose network operations can proceed.
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

// hdNobody handles the state in which no goroutine is enabled and no timer is due.
func hdNobody() (*g, bool) {
	outside := false
	for i := range hd.nthreads {
		if hd.threads[i].state == hdOutside {
			outside = true
		}
	}
	if hd.settle.phase != hdSettleNone && (!outside || hdSettleWaited()) {
		return hdSettleOver().gp.ptr(), false
	}
	if outside {
		hd.outside = true
		usleep(50)
		return nil, true
	}
	if netpollinited() && netpollAnyWaiters() {
		// The peer may be this program, a moment ago, or another process.
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
	if hd.inboxed.Load() != 0 {
		// Go's monitor has polled the network since the inbox was looked at: it puts goroutines there before it counts
		// them as no longer waiting.
		return nil, true
	}
	hdFail(hdOutDeadlock, 0, hd.cur.pend.pc)
	return nil, true
}
