//go:build heddle

// The stepping policies of docs/scheduler.md, which names the papers: FAIR, RANDOM, PCT, POS. Plans
// provide everything else. The order of random draws is part of the contract.
package runtime

import "internal/runtime/sys"

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
	if t.index != hd.lastRan || hd.points-hd.since < hdShortQuantum {
		return false
	}
	return hd.points-hd.since >= hdQuantum || hdLate()
}

// hdPolicyArrive is called when a thread has a new operation pending.
func hdPolicyArrive(t *hdThread) {
	switch hd.plan.Policy {
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

func hdChooseFair() uint32 {
	t := hd.turn
	if c := hd.clock; c != nil && c.index != hd.lastRan && hdHas(&hd.enabled, c.index) && hdTimer() <= hd.vnow+hdPointNs {
		return c.index // it is due; the others still run, however short its periods
	}
	if t.state != hdEnded && hdHas(&hd.enabled, t.index) && !hdYields(t) {
		return t.index
	}
	return hdNextAfter(t.index)
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
func hdLate() bool { return hd.points > hd.budget/2 }

// hdStarving returns the enabled goroutine that has waited longest, if that is too long, and nil
// otherwise. Two goroutines that run in turn could keep a third waiting.
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
	fair := hd.plan.Policy == hdPolicyFair || hdLate()
	if !fair && hd.points%hdStarvedEvery == 0 {
		if t := hdStarving(); t != nil {
			return t.index
		}
	}
	hidden := hd.plan.Nholds != 0 && hdHoldsHide()
	i := hdPolicyPick(fair)
	if hidden {
		hdHoldsShow()
	}
	return i
}

// hdPolicyPick returns one of the enabled threads, as the policy has it.
func hdPolicyPick(fair bool) uint32 {
	if fair {
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
