//go:build heddle

// Spinning, and its effect on time: docs/scheduler.md has the contract. An observation is what a
// read, a failed attempt or a yield returns to a goroutine. It is stale if it returns what the same
// instruction returned before, with no effect of the goroutine in between. A goroutine that makes
// several stale observations in a row spins, and the policies treat it as if it yielded. Two
// counters of stale observations start again whenever any goroutine makes progress:
//
//	idle    all of them. When every enabled goroutine has hdIdle, virtual time may pass
//	        without loss to any of them.
//	futile  those that read what others can change, so not the yields of a loop that only
//	        yields. When every enabled goroutine has hdFutile, and all together have had
//	        hdHopeless turns each, or the only one hdHopelessAlone, and none waits for time to
//	        pass, the fair phase begins. If it has begun, and as many have passed in it, the
//	        execution is suspected of a hang, and ends: each goroutine has had the chance to run.
//	        A plan that says when the phase begins requires hdSure times as many. A script says
//	        where the execution goes on; it is not a hang before the last step.
//
// A goroutine that writes to memory between its observations, or reads other addresses each time,
// may be making progress that only shows later. It is neither idle nor futile; if it does only
// wait, the step budget ends the execution.
//
// The time model is in docs/go.md.
package runtime

import "internal/runtime/sys"

const (
	hdDue     = 20e3   // a timer that is closer, in virtual ns, counts as due
	hdForever = 3600e9 // virtual ns after which polling the clock has lasted too long

	hdSeenSets, hdSeenWays = 8, 4 // a loop that waits has few instructions that observe

	// Weights of observations: how fast time advances while all threads make them. A loop that
	// takes a lock to observe may be doing work, so it takes 16 times as many.
	hdLight, hdHeavy = 1, 16
	hdDrift          = 4096
)

func hdSpinning(t *hdThread) bool { return t.stale >= hdSpin }

// hdProgress is called when t has done something that others may observe.
func hdProgress(t *hdThread) {
	t.stale = 0
	hd.progress, hd.progressAt = hd.points, hd.vnow
	hd.drifts, hd.looked = false, false
}

// hdWakes is called when t becomes enabled again.
func hdWakes(t *hdThread) {
	t.idle, t.futile = 0, 0
	t.ran = hd.points // and waits from now on
	hd.drifts = false
}

// hdObserve is called when the instruction at pc is about to return value, read from obj, to t.
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
		hd.vain++
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
	if hd.drifts { // the longer they wait, the faster time advances
		hd.vnow += (hd.vnow - hd.progressAt) * int64(weight) / hdDrift
	}
}

// hdLookAround determines whether all goroutines only wait.
func hdLookAround(t *hdThread) {
	hd.drifts, _ = hdEveryone(hdIdle, 0)
	if !hd.drifts || hd.settle.phase != hdSettleNone || t.futile < hdFutile {
		return
	}
	all, least := hdEveryone(hdIdle, hdFutile)
	n := uint64(hdReadyCount())
	each := uint64(hdHopeless)
	if n == 1 {
		each = hdHopelessAlone
	}
	// A quiet stretch of waiting is one point and many turns (heddle_computation.go).
	turns := max(hd.points-hd.progress, uint64(least)*n)
	if !all || turns <= each*n {
		return
	}
	if hdTimer() != 0 || hd.looked && hd.vnow-hd.progressAt < hdForever {
		return // they wait for time to pass
	}
	if hd.pos < hd.plan.Nsteps {
		return
	}
	if !hd.late {
		hd.suspected = hd.plan.FairAfter == 0
		return
	}
	if hd.plan.FairAfter != 0 {
		each *= hdSure
	}
	if turns > each*n {
		hdMessage("no progress")
		hdFail(hdOutHang, 0, t.pend.pc)
	}
}

// hdEveryone reports whether each enabled goroutine has reached both counts, and the least of their futile counts.
func hdEveryone(idle, futile uint32) (all bool, least uint32) {
	least = ^uint32(0)
	for w := range hd.nwords {
		for m := hd.enabled[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if u.idleAt != hd.progress || u.idle < idle || u.futile < futile {
				return false, 0
			}
			least = min(least, u.futile)
		}
	}
	return true, least
}

// hdJudge is called when t reaches operation op.
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
			t.stale-- // yielding is not spinning: the policies handle it
		}
	case hdOpRead, hdOpReadRange:
		// The trail shows whether the address is new.
	case hdOpGmutexLock, hdOpGmutexUnlock, hdOpRwLock, hdOpRwRlock, hdOpRwUnlock, hdOpRwRunlock:
		hdObserve(t, pc, obj, 0, hdLight, false)
		t.stale = 0
	default:
		t.trail = 0
		t.wrote = false
		hdProgress(t)
	}
}

// hdFruitless is called before an operation of t that will achieve nothing in the present state: it
// only reads value.
//
//go:nosplit
func hdFruitless(t *hdThread, value uint64) { t.fruitless, t.told = true, value }

// hdLook is hdNanotime for a program that reads the clock. A loop that does nothing else is
// waiting, so it yields from time to time.
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

// hdMayOvertake reports whether the next timer may fire while other threads are enabled. A machine
// can suspend any goroutine for a while, so a short timer may expire; but not for long, or the
// timer that guards a program against hanging would always fire.
func hdMayOvertake(when int64) bool { return when-hd.vnow <= hd.slack }

// hdOvertakes reports whether a timer that fires now, and is due at when, overtakes an enabled
// thread, and subtracts the difference from the slack. The time of the step is already in hd.vnow;
// hdChoose takes it into account, so every timer that is not due yet is marked as overtaking.
func hdOvertakes(when int64) bool {
	if when <= hd.vnow || !hdAny() {
		return false
	}
	hd.slack = max(hd.slack-(when-hd.vnow), 0)
	return when > hd.vnow+hdDue
}
