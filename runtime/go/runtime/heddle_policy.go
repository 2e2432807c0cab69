//go:build heddle

// The stepping policies of docs/scheduler.md, which names the papers: FAIR, RANDOM, PCT, POS, WALK, DELAY. Plans
// provide everything else. The order of random draws is part of the contract.
package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

func hdRandom() uint64 { return hdSplitmix(&hd.rng) }

// hdFairRandom draws for strongly fair decisions.
func hdFairRandom() uint64 { return hdSplitmix(&hd.fairRng) }

func hdSplitmix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func hdFresh() int64 { return int64(hdRandom()>>2) | 1<<61 }

func hdPolicyBegin() {
	hd.prioLow = 0
	hd.nchange = 0
	hd.delays = 0
	hd.intended = ^uint32(0)
	hd.late, hd.suspected = false, false
	hd.fairAt, hd.fairUntil, hd.vain = 0, 0, 0
	hd.fairRng = hdMix(hdSeed(&hd.plan)+hd.index, hdFairSalt)
	if hd.plan.Policy == hdPolicyWalk {
		p := &hd.plan
		if hd.warm {
			p.Nweights, p.Ninteresting = 0, 0
		}
		hd.weights = add(hd.names, uintptr(p.Nthreads)*8+uintptr(p.Npoints)*8+uintptr(p.Nholds)*unsafe.Sizeof(hdHold{}))
	}
	if hd.plan.Policy == hdPolicyPct || hd.plan.Policy == hdPolicyDelay {
		d, k := hd.plan.Param0, max(uint64(hd.plan.Param1), 1)
		i := uint32(0)
		if hd.plan.Policy == hdPolicyPct {
			i = 1
		}
		for ; i < d && hd.nchange < len(hd.change); i++ {
			hd.change[hd.nchange] = 1 + hdRandom()%k
			hd.nchange++
		}
	}
}

// hdBelow returns a random number below n.
func hdBelow(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	return hdRandom() >> 32 * n >> 32
}

// hdWord returns word i of the plan's weights and, after them, of its interesting instructions.
func hdWord(i uint32) uint64 { return *(*uint64)(add(hd.weights, uintptr(i)*8)) }

// hdPolicyWeigh sets the events that a new thread has left. Those of a thread include all that it is still
// to create. parent is a thread number.
func hdPolicyWeigh(t *hdThread, parent uint32) {
	if hd.plan.Policy != hdPolicyWalk {
		return
	}
	if t.planned != 0 && t.planned <= hd.plan.Nweights {
		t.left = hdWord(t.planned - 1)
	}
	if hd.intended == t.index {
		hd.intended = ^uint32(0) // it was an earlier thread in this slot
	}
	u := hd.cur
	if u == nil || u == t || u.number != parent {
		return
	}
	all := u.left
	u.left = all - min(all, t.left)
	if hd.intended == u.index && t.left != 0 && all != 0 && hdBelow(all) < t.left {
		hd.intended = t.index
	}
}

// hdCounts reports whether t's pending operation is one of those that WALK counts.
func hdCounts(t *hdThread) bool {
	n := hd.plan.Ninteresting
	if n == 0 {
		return true
	}
	if !hdInstruction(t) {
		return false
	}
	pc := uint64(t.pend.pc)
	at := hd.plan.Nweights
	for ; n > 1; n -= n / 2 {
		if hdWord(at+n/2) <= pc {
			at += n / 2
		}
	}
	return hdWord(at) == pc
}

// hdWaits reports whether the thread only waits for others.
func hdWaits(t *hdThread) bool {
	return t.pend.op == hdOpGosched || t.pend.op == hdOpGsleep || hdSpinning(t)
}

// hdYields reports whether the thread must let others run first. Spinning goroutines take turns at
// each point. After a while without progress each runs for several points at a time, since two that
// retry in the same way could undo each other's attempts forever.
func hdYields(t *hdThread) bool {
	if t.pend.op == hdOpGosched || t.pend.op == hdOpGsleep || hdMonopolises(t) {
		return true
	}
	return hdSpinning(t) && (hd.points-hd.progress < hdStalemate || hdRandom()%hdStretch == 0)
}

func hdMonopolises(t *hdThread) bool {
	return t.index == hd.lastRan && hd.points-hd.since >= hdQuantum
}

// hdPolicyArrive is called when a thread has a new operation pending.
func hdPolicyArrive(t *hdThread) {
	switch hd.plan.Policy {
	case hdPolicyDelay:
		for i := range hd.nchange {
			if at := hd.change[i]; at != 0 && at <= hd.points {
				hd.delays++
				hd.change[i] = 0
			}
		}
	case hdPolicyPct:
		for i := range hd.nchange {
			if at := hd.change[i]; at != 0 && at <= hd.points { // below initial priorities, above yielding threads
				t.prio = int64(1 + i)
				hd.change[i] = 0
			}
		}
		if hdYields(t) {
			t.prio = hd.prioLow
			hd.prioLow--
		}
	case hdPolicyPos:
		if hdYields(t) {
			hd.prioLow -= hdPosStride
			t.prio = hd.prioLow - int64(hdRandom()%hdPosWindow)
		} else {
			t.prio = hdFresh()
		}
	}
}

func hdReads(op uint16) bool {
	return op == hdOpRead || op == hdOpReadRange || op == hdOpAtomicLoad
}

// hdDone is called when a thread's operation is done.
func hdDone(t *hdThread) {
	if hd.plan.Policy == hdPolicyWalk && hdCounts(t) {
		t.left -= min(t.left, 1)
		hd.intended = ^uint32(0)
	}
	if hd.plan.Policy != hdPolicyPos || t.pend.obj == 0 {
		return
	}
	for w := range hd.nwords {
		for m := hd.enabled[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if u != t && u.pend.obj == t.pend.obj && !hdYields(u) && !(hdReads(u.pend.op) && hdReads(t.pend.op)) {
				u.prio = hdFresh()
			}
		}
	}
}

func hdNextAfter(i uint32) uint32 {
	w := i / 64
	m := hd.enabled[w] &^ (1<<(i%64+1) - 1)
	if i%64 == 63 {
		m = 0
	}
	for range hd.nwords + 1 {
		if m != 0 {
			return w*64 + uint32(sys.TrailingZeros64(m))
		}
		if w++; w == hd.nwords {
			w = 0
		}
		m = hd.enabled[w]
	}
	return i
}

// hdDueClock returns the clock if a timer is due and did not fire last: the others still run, however short its periods.
func hdDueClock() *hdThread {
	if c := hd.clock; c != nil && c.index != hd.lastRan && hdHas(&hd.enabled, c.index) && hdTimer() <= hd.vnow+hdPointNs {
		return c
	}
	return nil
}

func hdChooseFair() uint32 {
	if c := hdDueClock(); c != nil {
		return c.index
	}
	t := hd.turn
	if t.state != hdEnded && hdHas(&hd.enabled, t.index) && !hdYields(t) {
		return t.index
	}
	return hdNextAfter(t.index)
}

// hdNth returns the k-th enabled thread, in order, from 0.
func hdNth(k int) uint32 {
	for w := uint32(0); ; w++ {
		m := hd.enabled[w]
		if c := sys.OnesCount64(m); k >= c {
			k -= c
			continue
		}
		for ; k > 0; k-- {
			m &= m - 1
		}
		return w*64 + uint32(sys.TrailingZeros64(m))
	}
}

// hdChooseStrongly is strongly fair: a thread that is enabled at infinitely many decisions is chosen infinitely often,
// with probability 1. docs/scheduler.md has a sketch of the proof.
func hdChooseStrongly() uint32 {
	if c := hdDueClock(); c != nil {
		return c.index
	}
	cur := hd.turn
	stays := cur.state != hdEnded && hdHas(&hd.enabled, cur.index)
	if stays && cur.pend.op != hdOpGosched && cur.pend.op != hdOpGsleep {
		odds := uint64(hdFairShort)
		switch {
		case hdSpinning(cur):
			odds = 2
		case hd.late && (hd.points-hd.fairAt)/hdFairEpoch%2 != 0:
			odds = hdFairLong
		}
		if hdFairRandom()%odds != 0 {
			return cur.index
		}
	}
	if stays {
		hdDel(&hd.enabled, cur.index)
	}
	i, r := cur.index, uint64(1)
	n := hdReadyCount()
	if n > 1 {
		r = hdFairRandom()
	}
	switch {
	case n == 0:
	case r&1 == 0:
		i = hdNth(int(r >> 32 * uint64(n) >> 32))
	default:
		i = hdLeast(&hd.enabled, func(u *hdThread) uint64 { return u.acted }).index
	}
	if stays {
		hdAdd(&hd.enabled, cur.index)
	}
	return i
}

// hdLeast returns the first thread of a set at which a value is least.
func hdLeast(of *[hdWords]uint64, value func(*hdThread) uint64) *hdThread {
	var least *hdThread
	for w := range hd.nwords {
		for m := of[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if least == nil || value(u) < value(least) {
				least = u
			}
		}
	}
	return least
}

// hdChooseNotComputing returns an enabled goroutine that is not at a yield in a computation, or -1:
// a computing one would continue for long.
func hdChooseNotComputing() int32 {
	n, k := 0, 0
	for pass := range 2 {
		for w := range hd.nwords {
			for m := hd.enabled[w]; m != 0; m &= m - 1 {
				i := w*64 + uint32(sys.TrailingZeros64(m))
				if hd.threads[i].computes {
					continue
				}
				if pass == 0 {
					n++
				} else if k == 0 {
					return int32(i)
				} else {
					k--
				}
			}
		}
		if n == 0 {
			break
		}
		if pass == 0 && n > 1 {
			k = int(hdRandom() >> 32 * uint64(n) >> 32)
		}
	}
	return -1
}

func hdChooseRandom() uint32 {
	if t := hd.turn; hd.plan.Param0 != 0 && t.state != hdEnded && hdHas(&hd.enabled, t.index) && !hdYields(t) && uint32(hdRandom()&0xffff) < hd.plan.Param0 {
		return t.index
	}
	if hd.ncomputing > 0 {
		if i := hdChooseNotComputing(); i >= 0 {
			return uint32(i)
		}
	}
	n := hdReadyCount()
	k := 0
	if n > 1 {
		k = int(hdRandom() >> 32 * uint64(n) >> 32)
	}
	return hdNth(k)
}

// hdDrawIntended draws the thread whose interesting event is to come next, in proportion to the remaining
// ones of all threads that live; ^0 if none are known.
func hdDrawIntended() uint32 {
	all := uint64(0)
	for i := range hd.nthreads {
		if t := &hd.threads[i]; t.state != hdEnded {
			all += t.left
		}
	}
	if all == 0 {
		return ^uint32(0)
	}
	k := hdBelow(all)
	for i := uint32(0); ; i++ {
		t := &hd.threads[i]
		if t.state == hdEnded {
			continue
		}
		if k < t.left {
			return i
		}
		k -= t.left
	}
}

// hdMayWalk reports whether an enabled thread may be chosen under WALK. computing: one that is in a yield of
// its own computation may; every: one that stands before an interesting event and is not intended may.
func hdMayWalk(t *hdThread, computing, every bool) bool {
	return (computing || !t.computes) && (every || t.index == hd.intended || !hdCounts(t))
}

func hdShare(t *hdThread) uint64 {
	if hd.plan.Ninteresting != 0 || t.left == 0 {
		return 1
	}
	return t.left
}

func hdChooseWalk() uint32 {
	selects := hd.plan.Ninteresting != 0
	if selects && (hd.intended == ^uint32(0) || hd.threads[hd.intended].state == hdEnded) {
		hd.intended = hdDrawIntended()
	}
	for pass := range 2 {
		every := pass == 1 || !selects || hd.intended == ^uint32(0)
		all, quiet := uint64(0), uint64(0)
		for w := range hd.nwords {
			for m := hd.enabled[w]; m != 0; m &= m - 1 {
				u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
				if !hdMayWalk(u, true, every) {
					continue
				}
				all += hdShare(u)
				if !u.computes {
					quiet += hdShare(u)
				}
			}
		}
		if all == 0 {
			continue
		}
		computing := quiet == 0
		if !computing {
			all = quiet
		}
		k := hdBelow(all)
		for w := range hd.nwords {
			for m := hd.enabled[w]; m != 0; m &= m - 1 {
				u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
				if !hdMayWalk(u, computing, every) {
					continue
				}
				if k < hdShare(u) {
					return u.index
				}
				k -= hdShare(u)
			}
		}
	}
	return hdChooseFair() // not reached: some thread is enabled
}

func hdChooseHighest() uint32 {
	var best *hdThread
	for w := range hd.nwords {
		for m := hd.enabled[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if best == nil || u.prio > best.prio {
				best = u
			}
		}
	}
	return best.index
}

// hdFairPhase begins the fair phase when it is due.
func hdFairPhase() {
	after := uint64(hd.plan.FairAfter)
	if after == 0 {
		after = hd.budget / 2
	}
	due := hd.points >= after && !(hd.plan.ScriptMode == hdScriptTolerant && hd.pos < hd.plan.Nsteps)
	if hd.late || !due && !hd.suspected {
		return
	}
	hd.late = true
	hd.fairAt = hd.points
	hd.fairRng = hdMix(hdSeed(&hd.plan)+hd.index+hd.plan.FairSeed, hdFairSalt+1)
	hd.progress, hd.progressAt = hd.points, hd.vnow // what follows has a time of its own
	hd.drifts, hd.looked = false, false
}

// hdInWindow reports whether decisions are strongly fair for a while.
func hdInWindow() bool {
	if hd.points >= hd.fairUntil {
		if hd.vain < hdFairVain && hd.points-hd.fairUntil < hdFairEvery {
			return false
		}
		hd.fairUntil = hd.points + hdFairWindow
	}
	hd.vain = 0
	return true
}

// hdStarving returns the enabled goroutine that has waited longest, if that is too long, and nil
// otherwise. Two goroutines that run in turn could keep a third waiting.
func hdStarving() *hdThread {
	oldest := hdLeast(&hd.decision, func(u *hdThread) uint64 { return u.ran })
	if hd.points-oldest.ran < hdStarved {
		return nil
	}
	return oldest
}

func hdPolicyChoose() uint32 {
	strongly := hd.late || hdInWindow()
	fair := strongly || hd.plan.Policy == hdPolicyFair
	if !fair && hd.points%hdStarvedEvery == 0 {
		if t := hdStarving(); t != nil {
			return t.index
		}
	}
	hidden := hd.plan.Nholds != 0 && hdHoldsHide()
	i := hdPolicyPick(strongly)
	if hidden {
		hdHoldsShow()
	}
	return i
}

// hdPolicyPick returns one of the enabled threads, as the policy has it, or, if strongly is set, as strong fairness has it.
func hdPolicyPick(strongly bool) uint32 {
	if strongly {
		return hdChooseStrongly()
	}
	switch hd.plan.Policy {
	case hdPolicyRandom:
		return hdChooseRandom()
	case hdPolicyPct, hdPolicyPos:
		return hdChooseHighest()
	case hdPolicyWalk:
		return hdChooseWalk()
	case hdPolicyDelay:
		i := hdChooseFair()
		for ; hd.delays > 0; hd.delays-- {
			i = hdNextAfter(i)
		}
		return i
	}
	return hdChooseFair()
}
