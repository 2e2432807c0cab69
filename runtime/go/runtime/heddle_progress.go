//go:build heddle

// Who only waits, and what that means for time: docs/scheduler.md has the contract. An
// observation is what a read, a failed attempt or a yield tells a goroutine. One that tells
// it what the same instruction told it before, with no effect of the goroutine in between,
// tells it nothing new. A goroutine that makes several of these in a row spins, and the
// policies treat it as if it yielded. Two counters say more, since anything last changed for
// anybody:
//
//	idle    such observations. When every enabled goroutine has hdIdle of them, nobody loses
//	        by it if virtual time passes.
//	futile  those that looked at something that others can change, so not the yields of a loop
//	        that does nothing else. When every enabled goroutine has hdFutile of them, and all
//	        together have had hdHopeless points each, nobody will ever get further: a hang.
//
// A goroutine that writes to memory between its observations, or reads other addresses each
// time, may be achieving something that only shows later. It is neither idle nor futile; if
// it really waits, the step budget ends that.
//
// The time model is in docs/go.md.
package runtime

import "internal/runtime/sys"

const (
	hdDue     = 20e3   // a timer that is closer, in virtual ns, counts as due
	hdForever = 3600e9 // virtual ns after which who polls the clock has waited for too long

	hdSeenSets, hdSeenWays = 8, 4 // a loop that waits has few instructions that look

	// Weights of observations: how fast time drifts while all make them. One that takes a
	// lock to look may be a loop with a job, so it takes 16 times as many.
	hdLight, hdHeavy = 1, 16
	hdDrift          = 4096
)

func hdSpinning(t *hdThread) bool { return t.stale >= hdSpin }

// hdProgress is called when t has done something that may change what others see.
func hdProgress(t *hdThread) {
	t.stale = 0
	hd.progress, hd.progressAt = hd.points, hd.vnow
	hd.drifts, hd.looked = false, false
}

// hdWakes is called when t can go on again.
func hdWakes(t *hdThread) {
	t.idle, t.futile = 0, 0
	t.ran = hd.points // and waits from now on
	hd.drifts = false
}

// hdObserve is called when the instruction at pc is about to tell t value, of obj.
func hdObserve(t *hdThread, pc, obj uintptr, value uint64, weight uint32, futile bool) {
	key := hdMix(uint64(pc), uint64(obj)) | 1
	set := &t.seen[key>>8%hdSeenSets]
	i := 0
	for i < hdSeenWays && set[i].key != key {
		i++
	}
	if i == hdSeenWays {
		i = int(t.seenNext % hdSeenWays)
		t.seenNext++
	}
	s := &set[i]
	trail := t.trail
	t.trail = 0
	if s.key != key || s.value != value {
		s.key, s.value, s.trail = key, value, trail
		hdProgress(t)
		return
	}
	if weight == hdHeavy {
		t.stale++
	}
	if t.wrote || s.trail != trail {
		s.trail = trail
		t.wrote = false
		t.idle, t.futile = 0, 0
		return
	}
	if t.idleAt != hd.progress {
		t.idleAt = hd.progress
		t.idle, t.futile = 0, 0
	}
	t.idle++
	if futile {
		t.futile++
	}
	if t.idle%hdIdle == 0 {
		hdLookAround(t)
	}
	if hd.drifts { // the longer they wait, the faster it passes
		hd.vnow += (hd.vnow - hd.progressAt) * int64(weight) / hdDrift
	}
}

// hdLookAround determines whether all goroutines only wait.
func hdLookAround(t *hdThread) {
	hd.drifts = hdEveryone(hdIdle, 0)
	if !hd.drifts || hd.settle.phase != hdSettleNone || t.futile < hdFutile || hd.points-hd.progress <= hdHopeless*uint64(hdReadyCount()) || !hdEveryone(hdIdle, hdFutile) {
		return
	}
	if hdTimer() != 0 || hd.looked && hd.vnow-hd.progressAt < hdForever {
		return // they wait for time to pass
	}
	hdMessage("no progress")
	hdFail(hdOutHang, 0, t.pend.pc)
}

// hdEveryone reports whether each enabled goroutine has so much behind it.
func hdEveryone(idle, futile uint32) bool {
	for w := range hd.nwords {
		for m := hd.enabled[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if u.idleAt != hd.progress || u.idle < idle || u.futile < futile {
				return false
			}
		}
	}
	return true
}

// hdJudge is called when t has come to operation op.
func hdJudge(t *hdThread, op uint16, obj, pc uintptr, looked bool) {
	if t.fruitless {
		t.fruitless = false
		hdObserve(t, pc, obj, t.told, hdHeavy, true)
		return
	}
	switch op {
	case hdOpGosched, hdOpGsleep:
		hdObserve(t, pc, 0, 0, hdHeavy, looked)
		if t.stale > 0 {
			t.stale-- // yielding is not spinning: the policies know what it is
		}
	case hdOpRead, hdOpReadRange:
		// Whether it is of anything new, its trail will tell.
	case hdOpGmutexLock, hdOpGmutexUnlock, hdOpRwLock, hdOpRwRlock, hdOpRwUnlock, hdOpRwRunlock:
		hdObserve(t, pc, obj, 0, hdLight, false)
		t.stale = 0
	default:
		t.trail = 0
		t.wrote = false
		hdProgress(t)
	}
}

// hdFruitless is called before t comes to an operation that will get nowhere as things are:
// it does nothing but look at value.
//
//go:nosplit
func hdFruitless(t *hdThread, value uint64) { t.fruitless, t.told = true, value }

// hdLook is hdNanotime for a program that looks at the clock. A loop that does nothing else
// waits, so it yields from time to time.
func hdLook() int64 {
	if t := hdThreadOf(getg()); hd.active && t != nil {
		hd.vnow += hdClockNs
		hd.looked = true
		if t.looks++; t.looks > hdLooks && hdStops(getg()) != nil {
			pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
			hdForced(t, pc, fp)
			t.looks = hdLooks - hdLooksAgain
		}
	}
	return hdNanotime()
}

// hdMayOvertake reports whether the next timer may fire though others could go on. A machine
// suspends any goroutine for a while, so a short time may run out; but not for long, or a
// guard against a program that hangs would find every program hanging.
func hdMayOvertake(when int64) bool { return when-hd.vnow <= hd.slack }

// hdOvertakes reports whether a timer that fires now, and is due at when, overtakes
// somebody, and takes it off the slack. The time of the step has been added to hd.vnow; hdChoose
// counts with it, so that every timer that is not due yet is marked as overtaking.
func hdOvertakes(when int64) bool {
	if when <= hd.vnow || !hdAny() {
		return false
	}
	hd.slack = max(hd.slack-(when-hd.vnow), 0)
	return when > hd.vnow+hdDue
}
