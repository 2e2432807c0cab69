//go:build heddle

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// hdSyncPoint stops the goroutine before operation op of package sync, unless op is part of another
// of the package's operations.
//
//go:linkname hdSyncPoint
func hdSyncPoint(op uint16, obj unsafe.Pointer, value int64) {
	if hdStops(getg()) == nil {
		return
	}
	pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
	if !hdNested(fp) {
		if hdWouldFail(op, obj) {
			hdFruitless(getg().hd, 0)
		}
		hdPointAt(op, uintptr(obj), 0, uint64(value), 0, pc, fp)
	}
}

// hdWouldFail reports whether an attempt to lock would fail now. All supported releases of Go have
// the words at the same places: a Mutex starts with its state, an RWMutex with its writers' Mutex;
// the count of readers follows it and two semaphores.
func hdWouldFail(op uint16, obj unsafe.Pointer) bool {
	const locked, starving = 1, 4
	state := func() bool { return *(*int32)(obj)&(locked|starving) != 0 }
	readers := func() int32 { return *(*int32)(add(obj, 16)) }
	if obj == nil {
		return false
	}
	switch op {
	case hdOpGmutexTrylock:
		return state()
	case hdOpRwTrylock:
		return state() || readers() != 0
	case hdOpRwTryrlock:
		return readers() < 0
	}
	return false
}

// hdChan stops the goroutine before a send or a receive.
func hdChan(op uint16, c *hchan, block bool) {
	t := hdStops(getg())
	if t == nil {
		return
	}
	attempt := uint64(0) // a select with one case and a default
	if !block {
		attempt = 1
		if hdFutileAttempt(c, op == hdOpChanSend) {
			hdFruitless(t, 0)
		}
	}
	hdPointAt(op, uintptr(unsafe.Pointer(c)), 0, attempt, 0, sys.GetCallerPC(), hdDepth(getcallerfp()))
}

// hdFutileAttempt reports whether an attempt to send or receive would fail now, and notes that time may change that.
func hdFutileAttempt(c *hchan, send bool) bool {
	wait := hdWouldWait(c, send)
	if wait && c != nil && c.timer != nil {
		hd.looked = true // its timer is in no heap while no goroutine waits for it
	}
	return wait
}

// hdWouldWait reports whether a send or receive would block now.
func hdWouldWait(c *hchan, send bool) bool {
	switch {
	case c == nil:
		return true
	case c.closed != 0:
		return false
	case c.timer != nil && c.qcount == 0:
		return c.timer.when == 0 || c.timer.when > hd.vnow // one that is due fires when the channel is read
	case send:
		return c.qcount == c.dataqsiz && !hdAnyWaits(&c.recvq)
	}
	return c.qcount == 0 && !hdAnyWaits(&c.sendq)
}

// hdAnyWaits reports whether a goroutine of a channel's queue still waits: one that another case of its select has woken stays there
// until it runs.
func hdAnyWaits(q *waitq) bool {
	for sg := q.first; sg != nil; sg = sg.next {
		if !sg.isSelect || sg.g.selectDone.Load() == 0 {
			return true
		}
	}
	return false
}

// hdSelect stops the goroutine before a select and draws which case is tried first.
func hdSelect(cases *scase, sends, recvs int, block bool) {
	t := hdStops(getg())
	if t == nil {
		return
	}
	t.choice = 0
	n := sends + recvs
	t.cases, t.ncases, t.sends = uintptr(unsafe.Pointer(cases)), uint32(n), uint32(sends)
	if gp := getg(); t.cases >= gp.stack.lo && t.cases < gp.stack.hi {
		t.cases = hdDepth(t.cases)
	}
	if !block {
		fruitless := true
		for i := range n {
			c := (*scase)(add(unsafe.Pointer(cases), uintptr(i)*unsafe.Sizeof(scase{}))).c
			if !hdFutileAttempt(c, i < sends) {
				fruitless = false
				break
			}
		}
		if fruitless {
			hdFruitless(t, 0)
		}
	}
	hdPointAt(hdOpSelect, 0, 0, 0, uint32(n), sys.GetCallerPC(), hdDepth(getcallerfp()))
}

// hdPollOrder sets the order in which the cases are tried, starting with the one that the schedule
// chose.
func hdPollOrder(order []uint16) {
	if !hd.active || hdThreadOf(getg()) == nil {
		return
	}
	for i := range order { // insertion sort: there are few
		for j := i; j > 0 && order[j] < order[j-1]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	first := int(hdThreadOf(getg()).choice) - 1
	k := 0
	for k < len(order) && int(order[k]) < first {
		k++
	}
	if k == 0 || k == len(order) {
		return
	}
	hdReverse(order[:k])
	hdReverse(order[k:])
	hdReverse(order)
}

func hdReverse(s []uint16) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// hdSelected records which case a select took; pcs holds the cases' places in source order.
func hdSelected(i int, pcs []uintptr) {
	if !hd.active || !hd.record {
		return
	}
	t := hdThreadOf(getg())
	if t == nil {
		return
	}
	written := uint64(i)
	if i < 0 {
		written = ^uint64(0)
	} else {
		hdTookCase(t, hdCaseOp(t, uint32(i)), hdCase(t, uint32(i)))
	}
	if i >= 0 && i < len(pcs) {
		written = 0
		for _, pc := range pcs {
			if pc < pcs[i] {
				written++
			}
		}
	}
	hdNote(hdOpSelectCase, t.pend.pc, 0, written)
}

// hdNotified is called before a goroutine that waits for a notification of l is made ready.
func hdNotified(l *notifyList, waits *g) {
	racerelease(unsafe.Pointer(l))
	raceacquireg(waits, unsafe.Pointer(l))
}
