//go:build heddle

// The stepping policies, as in the C runtime (runtime/policy.c), where the papers are
// named: FAIR, RANDOM, PCT, POS. Everything else is made of plans.
package runtime

import "internal/runtime/sys"

// hdQuantum is for how many points a thread may run on end. A loop that takes a lock to look,
// and gives it back, is not a spinning, and nobody else would ever run.
const hdQuantum = 10000

// hdSmallQuantum is that in the second half of the step budget.
const hdSmallQuantum = 200

// Fairness. A goroutine that only yields, spins or polls cannot keep another enabled one from
// running. FAIR and PCT serve those that yield in turn; so does POS up to the order within a
// window, which moves down with each draw; RANDOM is fair with probability 1. And under all
// of them nobody waits for more than hdStarved points.
const (
	hdStarved = 10000
	hdWindow  = 64
	hdStride  = 8
)

func hdRandom() uint64 { // splitmix64
	hd.rng += 0x9e3779b97f4a7c15
	z := hd.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func hdFresh() int64 { return int64(hdRandom()>>2) | 1<<61 }

func hdPolicyBegin() {
	hd.prioLow = 0
	hd.nchange = 0
	if hd.plan.Policy == hdPolicyPct {
		d, k := hd.plan.Param0, max(uint64(hd.plan.Param1), 1)
		for i := uint32(1); i < d && hd.nchange < len(hd.change); i++ {
			hd.change[hd.nchange] = 1 + hdRandom()%k
			hd.nchange++
		}
	}
}

// hdWaits reports whether the thread only waits for others.
func hdWaits(t *hdThread) bool {
	return t.pend.op == hdOpGosched || t.pend.op == hdOpGsleep || hdSpinning(t)
}

func hdGivesWay(t *hdThread) bool { return hdWaits(t) || hdMonopolises(t) }

func hdMonopolises(t *hdThread) bool {
	if t.index != hd.lastRan || hd.points-hd.since < hdSmallQuantum {
		return false
	}
	return hd.points-hd.since >= hdQuantum || hdLate()
}

// hdArrived is called when the thread that runs has come to a point.
func hdArrived(t *hdThread) {
	if hd.plan.Policy != hdPolicyPct {
		return
	}
	for i := range hd.nchange {
		if at := hd.change[i]; at != 0 && at <= hd.points { // below initial priorities, above yielding threads
			t.prio = int64(1 + i)
			hd.change[i] = 0
		}
	}
}

// hdDraw is called when a thread has a new operation pending.
func hdDraw(t *hdThread) {
	switch way := hdGivesWay(t); {
	case hd.plan.Policy == hdPolicyPct && way:
		t.prio = hd.prioLow
		hd.prioLow--
	case hd.plan.Policy == hdPolicyPos && way:
		hd.prioLow -= hdStride
		t.prio = hd.prioLow - int64(hdRandom()%hdWindow)
	case hd.plan.Policy == hdPolicyPos:
		t.prio = hdFresh()
	}
}

func hdReads(op uint16) bool {
	return op == hdOpRead || op == hdOpReadRange || op == hdOpAtomicLoad
}

// hdDone is called when a thread's operation is done.
func hdDone(t *hdThread) {
	if hd.plan.Policy != hdPolicyPos || t.pend.obj == 0 {
		return
	}
	for w := range hd.nwords {
		for m := hd.enabled[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if u != t && u.pend.obj == t.pend.obj && !hdGivesWay(u) && !(hdReads(u.pend.op) && hdReads(t.pend.op)) {
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

func hdChooseFair() uint32 {
	t := hd.cur
	if t.state != hdEnded && hdHas(&hd.enabled, t.index) && !hdGivesWay(t) {
		return t.index
	}
	return hdNextAfter(t.index)
}

func hdChooseRandom() uint32 {
	if t := hd.cur; hd.plan.Param0 != 0 && t.state != hdEnded && hdHas(&hd.enabled, t.index) && !hdGivesWay(t) && uint32(hdRandom()&0xffff) < hd.plan.Param0 {
		return t.index
	}
	n := hdReadyCount()
	k := 0
	if n > 1 {
		k = int(hdRandom() >> 32 * uint64(n) >> 32)
	}
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

// hdLate reports whether the execution is in the second half of its step budget.
func hdLate() bool { return hd.points > uint64(hd.plan.MaxSteps/2) }

// hdStarving is the enabled goroutine that has waited for longest, if that is too long; nil
// if none has.
func hdStarving() *hdThread {
	var oldest *hdThread
	for w := range hd.nwords {
		for m := hd.decision[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if oldest == nil || u.ran < oldest.ran {
				oldest = u
			}
		}
	}
	if hd.points-oldest.ran < hdStarved {
		return nil
	}
	return oldest
}

func hdPolicyChoose() uint32 {
	if hd.points%(hdStarved/8) == 0 {
		if t := hdStarving(); t != nil {
			return t.index
		}
	}
	if hdLate() {
		return hdChooseFair()
	}
	switch hd.plan.Policy {
	case hdPolicyRandom:
		return hdChooseRandom()
	case hdPolicyPct, hdPolicyPos:
		return hdChooseHighest()
	}
	return hdChooseFair()
}
