//go:build heddle

// Watching an execution for data races (HD_PLAN_WATCH): the hooks pass accesses and synchronisation
// to the shadow and the clocks in this process. The controller receives only the pairs of
// instructions that race and how often each instruction was executed.
package runtime

import (
	"unsafe"
)

// hdWatchBegin is called when an execution begins.
func hdWatchBegin() {
	hdUnsent.n = 0
	hd.watching = hd.plan.Flags&hdPlanWatch != 0
	if hd.watching && !hdShadeBegin(hd.plan.WatchBudget) {
		hd.watching = false
		hd.result.Notes |= hdNoteUnwatched
	}
	hd.watched = hd.watching
	hdWatchAccesses()
}

// hdWatchAccesses determines whether the hooks for accesses do anything.
func hdWatchAccesses() {
	hd.watch = hd.npoints > 0 || hd.record && hd.accesses || hd.watching && !hd.alone
}

// hdWatchOthers is called when the first thread is no longer alone. Whatever it did before happens
// before all that others do: they are created from now on, and timers acquire what their setting
// releases. So its accesses until then cannot race and need not be watched.
func hdWatchOthers() {
	hd.alone = false
	hdWatchAccesses()
}

// hdBeginsAlone reports whether gp is the only goroutine of the program, and no timer is set.
func hdBeginsAlone(gp *g) bool {
	if hdTimer() != 0 {
		return false
	}
	for _, other := range allgs {
		if s := readgstatus(other); s != _Gdead && other != gp && hdControlled(other) {
			return false
		}
	}
	return true
}

// hdWatchStops ends watching, because later synchronisation will not be seen.
func hdWatchStops() {
	hd.watching = false
	hdWatchAccesses()
}

// hdWatchEvent is called when p has become an event of t, or would be one if they were recorded.
func hdWatchEvent(t *hdThread, p *hdPend) {
	switch p.op {
	case hdOpRead, hdOpReadRange:
		hdWatchAccess(t, hdPlainRead, p.op, p.pc, p.obj, uintptr(p.size))
	case hdOpWrite, hdOpWriteRange:
		hdWatchAccess(t, hdPlainWrite, p.op, p.pc, p.obj, uintptr(p.size))
	case hdOpAtomicLoad:
		hdWatchAtomic(t, hdAtomicRead, p)
	case hdOpAtomicStore, hdOpAtomicRmw:
		hdWatchAtomic(t, hdAtomicWrite, p)
	case hdOpAtomicCas:
		if p.result == 0 {
			hdWatchAtomic(t, hdAtomicRead, p)
		} else {
			hdWatchAtomic(t, hdAtomicWrite, p)
		}
	case hdOpAcquire, hdOpRelease, hdOpReleaseMerge, hdOpReleaseAcquire:
		hdOrderSync(t, p.op, p.obj)
	case hdOpThreadEnd:
		hdOrderEnd(t)
	}
}

// hdWatchAtomic handles an atomic operation. It acquires before it is compared with other accesses,
// and releases in its own epoch.
func hdWatchAtomic(t *hdThread, kind hdTouchKind, p *hdPend) {
	if p.obj < 4096 {
		return // it faults
	}
	t.accesses()
	hdOrderAtomic(t, p.op, kind == hdAtomicWrite, p.obj)
	published := t.order.tick
	t.order.tick = false
	if hd.watching {
		hdShadeAccess(t, kind, p.op, p.pc, p.obj, uintptr(p.size))
	}
	t.order.tick = published
}

// hdWatchAccess handles a plain access.
func hdWatchAccess(t *hdThread, kind hdTouchKind, op uint16, pc, addr, size uintptr) {
	if addr < 4096 {
		return // it faults
	}
	hdWatchCount(pc)
	hdShadeAccess(t, kind, op, pc, addr, size)
}

// hdWatchTold handles t's next access, which is not a scheduling point.
func hdWatchTold(t *hdThread, a *hdAccessing) {
	if t.finalizes {
		return
	}
	kind := hdPlainRead
	if a.op == hdOpWrite || a.op == hdOpWriteRange {
		kind = hdPlainWrite
	}
	hdWatchAccess(t, kind, a.op, a.pc, a.addr, a.size)
}

// hdWatchCount counts an execution of the instruction at pc while several threads are enabled.
func hdWatchCount(pc uintptr) {
	if !hdSeveral() {
		return
	}
	s := hdShade
	i := (uint64(pc) ^ uint64(pc)>>13) % hdCounters
	for range 64 {
		c := &s.count[i]
		if c.run != s.run {
			c.pc, c.run, c.count = pc, s.run, 1
			s.counted[s.ncounted] = uint16(i)
			s.ncounted++
			return
		}
		if c.pc == pc {
			c.count++
			return
		}
		i = (i + 1) % hdCounters
	}
}

// hdSeveral reports whether more than one thread is enabled.
func hdSeveral() bool {
	some := false
	for w := range hd.nwords {
		if m := hd.enabled[w]; m != 0 {
			if some || m&(m-1) != 0 {
				return true
			}
			some = true
		}
	}
	return false
}

// hdRaced reports that x, t's current access, races with the earlier access o on size bytes at
// addr.
func hdRaced(t *hdThread, o, x *hdTouch, addr uintptr, size uint32) {
	if !hdNewPair(o, x) {
		return
	}
	if span := spanOf(addr); span != nil && span.state.get() == mSpanManual {
		return // a stack: its memory may have been another goroutine's before
	}
	r := hdRace{
		Pc: [2]uint64{uint64(o.pc), uint64(x.pc)}, Order: hd.result.Watched, Event: hdEv.sent,
		Thread: [2]uint32{o.thread, x.thread}, Op: [2]uint16{o.op, x.op}, Size: size,
	}
	if hd.record {
		r.Stack = hdWatchStack(t, x.pc)
	}
	if hdUnsent.n == len(hdUnsent.races) {
		hdSendRaces()
	}
	hdUnsent.races[hdUnsent.n], hdUnsent.addr[hdUnsent.n] = r, addr
	hdUnsent.n++
}

// hdUnsent keeps the races of an execution until it ends. Heap objects are numbered in the order in
// which they are first named, and executions that are not watched must give them the same numbers.
var hdUnsent struct {
	races [128]hdRace
	addr  [128]uintptr // of the objects
	n     int
}

// hdSendRaces names the objects of the races found so far, and sends the races.
func hdSendRaces() {
	for i := range hdUnsent.n {
		r := &hdUnsent.races[i]
		r.Object = hdObject(hdUnsent.addr[i])
		hdOut(hdRecRace, unsafe.Pointer(r), hdSizeofRace)
	}
	hdUnsent.n = 0
}

// hdWatchStack returns the number of t's stack, whose access is at pc.
func hdWatchStack(t *hdThread, pc uintptr) uint32 {
	if t.pend.pc == pc && t.pend.stack != 0 {
		return t.pend.stack // a scheduling point
	}
	if t.access.pc != pc {
		return 0
	}
	return hdStack(t.gp.ptr(), pc, hdAccessFrame(&t.access), pc)
}

// hdNewPair reports whether the two instructions have not yet raced in this execution.
func hdNewPair(o, x *hdTouch) bool {
	s := hdShade
	p := hdPairOf{pc: [2]uintptr{o.pc, x.pc}, op: [2]uint16{o.op, x.op}, run: s.run}
	if p.pc[0] > p.pc[1] || p.pc[0] == p.pc[1] && p.op[0] > p.op[1] {
		p.pc[0], p.pc[1] = p.pc[1], p.pc[0]
		p.op[0], p.op[1] = p.op[1], p.op[0]
	}
	if s.npairs >= hdRacePairs/2 {
		return false
	}
	i := hdMix(uint64(p.pc[0])^uint64(p.op[0])<<48, uint64(p.pc[1])^uint64(p.op[1])<<48) % hdRacePairs
	for s.pairs[i].run == s.run {
		if s.pairs[i] == p {
			return false
		}
		i = (i + 1) % hdRacePairs
	}
	s.pairs[i] = p
	s.npairs++
	return true
}

// hdWatchEnd sends the profile of a watched execution.
func hdWatchEnd() {
	if !hd.watched {
		return
	}
	hd.watching = false
	hdSendRaces()
	var out [64]hdProfile
	n := 0
	s := hdShade
	for i := range s.ncounted {
		c := &s.count[s.counted[i]]
		out[n] = hdProfile{Pc: uint64(c.pc), Count: c.count}
		if n++; n == len(out) {
			hdOut(hdRecProfile, unsafe.Pointer(&out), uintptr(n)*hdSizeofProfile)
			n = 0
		}
	}
	if n > 0 {
		hdOut(hdRecProfile, unsafe.Pointer(&out), uintptr(n)*hdSizeofProfile)
	}
}
