//go:build heddle

// Handles a goroutine that has made hdQuiet memory accesses without a scheduling point, a quiet
// stretch; docs/scheduler.md has the contract. If it wrote nothing in the stretch and used the same
// addresses as in the last stretch that ended at the same place, it waits for another goroutine's
// write, and yields. Otherwise it computes, and continues without a scheduling point.
package runtime

// hdQuietOver is called after a quiet stretch of t, which runs and can be stopped; pc and fp are
// those of its next access. It reports whether t must yield before that access. It runs on the
// scheduler's stack.
func hdQuietOver(t *hdThread, pc, fp uintptr) bool {
	hd.stretches++
	if hd.shm.Cut == hdCutWhere {
		hdTellWhere(t, pc)
	}
	if hd.settle.phase != hdSettleNone || hdRepeats(t, hdWhere(pc, fp, hdSkipLibrary)) {
		return true
	}
	t.quiet, t.looks = 0, 0
	hd.vnow += hdPointNs
	if t.stretches == 0 {
		t.yieldAt = hdStretches << t.yields
	}
	// The watchdog measures real time, and recording may slow the goroutine down. But one that
	// never reaches a scheduling point must not hold off the watchdog.
	if t.stretches++; t.stretches <= hdStretchesAlive {
		hd.shm.Heartbeat++
	}
	when := hdTimer()
	switch {
	case when != 0 && when <= hd.vnow+hdPointNs+hdDue:
	case t.stretches < t.yieldAt || when == 0 && hdReadyCount() < 2:
		return false
	case t.yields < hdStretchesMore:
		t.yields++
	}
	t.yieldAt = t.stretches + hdStretches<<t.yields
	t.computes = true
	hd.ncomputing++
	return true
}

// hdRepeats reports whether t wrote nothing and used the same addresses as before its last arrival
// at pc. If not, it keeps this stretch for the next comparison.
func hdRepeats(t *hdThread, pc uintptr) bool {
	key := hdMix(uint64(pc), 0) | 1
	set := &t.seen[key>>8%hdSeenSets]
	i := 0
	for i < hdSeenWays && set[i].key != key {
		i++
	}
	if i < hdSeenWays && set[i].trail == t.trail && !t.wrote {
		return true
	}
	if i == hdSeenWays {
		i = int(t.seenNext % hdSeenWays)
		t.seenNext++
	}
	set[i].key, set[i].value, set[i].trail = key, 0, t.trail
	t.trail, t.wrote = 0, false
	t.idle, t.futile = 0, 0
	return false
}
