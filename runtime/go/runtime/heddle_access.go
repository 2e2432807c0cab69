//go:build heddle

// Plain accesses to memory, which the compiler and the runtime report to the race detector. An
// access is a scheduling point if the plan lists its instruction. The functions are those declared
// in Go's runtime/race.go and defined in the race detector's assembly. This file is combined with
// one of two heddle_race.go: with Go's race detector, which also receives the accesses (hdTell…),
// or without it.
package runtime

import (
	"internal/abi"
	"internal/runtime/sys"
	"unsafe"
)

// hdWatched reports whether the goroutine's next access, at addr, must be examined.
//
//go:nosplit
func hdWatched(addr uintptr) bool {
	if !hd.active {
		return false
	}
	gp := getg()
	t := gp.hd
	if t == nil || t.goid != gp.goid {
		return false
	}
	t.quiet++
	t.trail = (t.trail + uint64(addr)) * 0x9e3779b97f4a7c15
	return hd.watch || t.quiet >= hdQuiet
}

// hdWrites is hdWatched for a write.
//
//go:nosplit
func hdWrites(addr uintptr) bool {
	if !hd.active {
		return false
	}
	gp := getg()
	if t := gp.hd; t != nil && (addr < gp.stack.lo || addr >= gp.stack.hi) {
		t.wrote = true
	}
	return hdWatched(addr)
}

// The compiler calls these hooks at places where its stack maps are wrong: a variable may count as
// live before its first assignment, as the copy of a big receiver does in a wrapper that takes a
// pointer. Go's own hooks are assembly that switches to the scheduler's stack, so Go never reads
// these maps. Here, too, nothing may grow the goroutine's stack from raceread and its like onwards
// (all of it is nosplit, the rest runs on the scheduler's stack). While such a goroutine waits for
// its turn, the collector scans the caller's frame conservatively (hdInstrumented).

// hdAccessing is a goroutine's next access. It is stored in the thread: the arguments of a closure,
// or local variables, would take more stack than package reflect leaves.
type hdAccessing struct {
	op              uint16
	forced, changes bool
	addr, size, pc  uintptr
	at, fp          uintptr // the frame of the hook's caller, from which pc's frame is found
}

// hdAccessOf is the return address of the instruction whose access hdAccess handles.
var hdAccessOf uintptr

// hdAccess handles an access of the instruction hdAccessOf, which is further up the stack; what
// holds the operation and, from bit 16 on, the size. More arguments would take more stack than
// package reflect leaves on arm64.
//
//go:nosplit
func hdAccess(what uint64, addr uintptr) {
	// A goroutine's stack is private to it.
	if gp := getg(); addr >= gp.stack.lo && addr < gp.stack.hi {
		return
	}
	// Read-only data cannot race, and the place read may depend on the outside world, as the
	// digits of a port number do.
	if md := &firstmoduledata; addr >= md.rodata && addr < md.noptrdata {
		return
	}
	class, known := hdClassKnown(hdAccessOf)
	if !known {
		hdAsked = hdAccessOf
		systemstack(hdAsk)
		class, _ = hdClassKnown(hdAccessOf)
	}
	if class == hdSkipLibrary && hdClasses[(hdAccessOf^hdAccessOf>>13)%hdClassSlots].group&hdGroupReflect == 0 {
		return
	}
	a := &getg().hd.access
	a.op, a.addr, a.size, a.pc = uint16(what), addr, uintptr(what>>16), hdAccessOf
	a.at, a.fp = sys.GetCallerPC(), hdDepth(getcallerfp())
	for again := true; again; again = getg().hd.access.forced { // again after a yield inserted before the access
		systemstack(hdAccessed)
		if getg().hd.access.changes {
			mcall(hdSwitch)
		}
	}
}

// hdAccessed runs on the scheduler's stack. It sets changes if another goroutine must run next, and
// forced if the reason is a yield before the access.
func hdAccessed() {
	gp := getg().m.curg
	t := gp.hd
	a := &t.access
	a.changes, a.forced = false, false
	if hd.quit {
		t.pend = hdPend{pc: a.pc}
		hdCut(a.pc)
		exit(2)
	}
	stops := hdStops(gp) != nil
	if hd.watching && t.quiet < hdQuiet && !(hd.record && hd.accesses) && !(stops && hdIsPoint(a.pc)) {
		hdWatchTold(t, a) // by far the most frequent case
		return
	}
	fp := hdAccessFrame(a)
	if t.quiet >= hdQuiet && stops && hdQuietOver(t, a.pc, fp) {
		hd.forced = true
		if hdStop(t, hdOpGosched, 0, 0, 0, 0, a.pc, fp) {
			a.changes, a.forced = true, true
			return
		}
	}
	if !hd.watch || t.finalizes {
		return // a finalizer runs after all that the program did with the object
	}
	if hdIsPoint(a.pc) && stops {
		a.changes = hdStop(t, a.op, a.addr, 0, 0, uint32(a.size), a.pc, fp)
		return
	}
	if hd.watching {
		hdWatchTold(t, a)
	}
	if !hd.record || !hd.accesses || !hd.values && t.last.pc == a.pc && t.last.addr == a.addr && t.last.size == a.size {
		return
	}
	if !hdProfiles() {
		return
	}
	p := hdPend{op: a.op, pc: a.pc, obj: a.addr, size: uint32(a.size)}
	p.stack = hdStack(gp, a.pc, fp, a.pc)
	hdRecord(t, &p, hdEvNodecision)
	t.last.pc, t.last.addr, t.last.size = a.pc, a.addr, a.size
}

// hdProfiles counts an event that is not a scheduling point, and reports whether the plan wants it.
func hdProfiles() bool {
	nth := hd.profiled
	hd.profiled++
	if nth < hd.plan.SkipAccesses {
		return false
	}
	if nth-hd.plan.SkipAccesses >= hd.plan.MaxAccesses {
		hd.result.Notes |= hdNoteAccesses
		hd.accesses = false
		hdWatchAccesses()
		return false
	}
	return true
}

// hdAccessFrame returns the frame of a's instruction, 0 if it is not found.
func hdAccessFrame(a *hdAccessing) uintptr {
	at, fp := a.at, a.fp
	for range 12 {
		if at == a.pc || at == 0 {
			break
		}
		at, fp = hdFrame(fp)
	}
	if at != a.pc {
		return 0
	}
	return fp
}

// hdCallOf returns the return address of the function around a's instruction, or a.pc if its frame is not found. The
// runtime reads a map for the program in a function that another of its functions may call: for values of more than 1,024
// bytes, and from Go 1.27 on wherever the program reads m[k] without ok. The runtime then names its own code as the place of the read.
func hdCallOf(a *hdAccessing) uintptr {
	if fp := hdAccessFrame(a); fp != 0 {
		if pc, _ := hdFrame(fp); pc != 0 {
			return pc
		}
	}
	return a.pc
}

// hdForced records a yield that heddle inserted.
func hdForced(t *hdThread, pc, fp uintptr) {
	t.quiet = 0
	hd.forced = hdStops(getg()) != nil
	hdPointAt(hdOpGosched, 0, 0, 0, 0, pc, fp)
}

// hdInstrumented reports whether the compiler calls the function around pc for an access: its
// caller's stack map is wrong at that place.
func hdInstrumented(f funcInfo) bool {
	if !hd.on || !f.valid() {
		return false
	}
	switch f.entry() {
	case abi.FuncPCABIInternal(raceread), abi.FuncPCABIInternal(racewrite),
		abi.FuncPCABIInternal(racereadrange), abi.FuncPCABIInternal(racewriterange):
		return true
	}
	return false
}

// hdClassKnown returns hdClassOf(pc) if it is cached.
//
//go:nosplit
func hdClassKnown(pc uintptr) (class uint8, known bool) {
	c := &hdClasses[(pc^pc>>13)%hdClassSlots]
	return c.class, c.pc == pc
}

// hdAsked is the argument of hdAsk. A closure would take more stack.
var hdAsked uintptr

func hdAsk() { hdClassOf(hdAsked) }

// hdClassOfNosplit is hdClassOf for callers that must not grow the stack.
//
//go:nosplit
func hdClassOfNosplit(pc uintptr) uint8 {
	class, known := hdClassKnown(pc)
	if !known {
		hdAsked = pc
		systemstack(hdAsk)
		class, _ = hdClassKnown(pc)
	}
	return class
}

// hdGroupOfNosplit is hdGroupOf for callers that must not grow the stack.
//
//go:nosplit
func hdGroupOfNosplit(pc uintptr) uint8 {
	hdClassOfNosplit(pc)
	return hdClasses[(pc^pc>>13)%hdClassSlots].group
}

// hdAccessPC handles an access that the runtime performs for an instruction of the program; the
// call returns to callpc.
func hdAccessPC(op uint16, addr unsafe.Pointer, size, callpc uintptr) {
	watched := false
	if op == hdOpWrite || op == hdOpWriteRange {
		watched = hdWrites(uintptr(addr))
	} else {
		watched = hdWatched(uintptr(addr))
	}
	if watched && size > 0 {
		hdAccessOf = callpc
		hdAccess(uint64(op)|uint64(size)<<16, uintptr(addr))
	}
}

//go:nosplit
func raceread(addr uintptr) {
	pc := sys.GetCallerPC()
	if hdWatched(addr) {
		hdAccessOf = pc
		hdAccess(hdOpRead|uint64(1)<<16, addr)
	}
	hdTellRead(addr, pc)
}

//go:nosplit
func racewrite(addr uintptr) {
	pc := sys.GetCallerPC()
	if hdWrites(addr) {
		hdAccessOf = pc
		hdAccess(hdOpWrite|uint64(1)<<16, addr)
	}
	hdTellWrite(addr, pc)
}

//go:nosplit
func racereadrange(addr, size uintptr) {
	pc := sys.GetCallerPC()
	if hdWatched(addr) && size > 0 {
		hdAccessOf = pc
		hdAccess(hdOpReadRange|uint64(size)<<16, addr)
	}
	hdTellReadRange(addr, size, pc)
}

//go:nosplit
func racewriterange(addr, size uintptr) {
	pc := sys.GetCallerPC()
	if hdWrites(addr) && size > 0 {
		hdAccessOf = pc
		hdAccess(hdOpWriteRange|uint64(size)<<16, addr)
	}
	hdTellWriteRange(addr, size, pc)
}

//go:nosplit
func RaceRead(addr unsafe.Pointer) {
	pc := sys.GetCallerPC()
	if hdWatched(uintptr(addr)) {
		hdAccessOf = pc
		hdAccess(hdOpRead|uint64(1)<<16, uintptr(addr))
	}
	hdTellRead(uintptr(addr), pc)
}

//go:nosplit
func RaceWrite(addr unsafe.Pointer) {
	pc := sys.GetCallerPC()
	if hdWrites(uintptr(addr)) {
		hdAccessOf = pc
		hdAccess(hdOpWrite|uint64(1)<<16, uintptr(addr))
	}
	hdTellWrite(uintptr(addr), pc)
}

//go:nosplit
func RaceReadRange(addr unsafe.Pointer, len int) {
	pc := sys.GetCallerPC()
	if hdWatched(uintptr(addr)) && len > 0 {
		hdAccessOf = pc
		hdAccess(hdOpReadRange|uint64(uintptr(len))<<16, uintptr(addr))
	}
	hdTellReadRange(uintptr(addr), uintptr(len), pc)
}

//go:nosplit
func RaceWriteRange(addr unsafe.Pointer, len int) {
	pc := sys.GetCallerPC()
	if hdWrites(uintptr(addr)) && len > 0 {
		hdAccessOf = pc
		hdAccess(hdOpWriteRange|uint64(uintptr(len))<<16, uintptr(addr))
	}
	hdTellWriteRange(uintptr(addr), uintptr(len), pc)
}

func racereadpc(addr unsafe.Pointer, callpc, pc uintptr) {
	if hd.active && hdThreadOf(getg()) != nil && hdGroupOf(callpc)&hdGroupMapRead != 0 {
		callpc = hdCallOf(&hdAccessing{pc: callpc, at: sys.GetCallerPC(), fp: hdDepth(getcallerfp())})
	}
	if t := hdThreadOf(getg()); t != nil && pc == abi.FuncPCABIInternal(chansend) {
		// A send reads the channel before it waits: where its instruction is a scheduling point, it is the send that waits all the same.
		sends := t.pend
		hdAccessPC(hdOpRead, addr, 1, callpc)
		t.pend = sends
	} else {
		hdAccessPC(hdOpRead, addr, 1, callpc)
	}
	hdTellReadFor(uintptr(addr), callpc, pc)
}

func racewritepc(addr unsafe.Pointer, callpc, pc uintptr) {
	if t := hdStops(getg()); t != nil {
		t.writes.addr, t.writes.pc = uintptr(addr), callpc
	}
	hdAccessPC(hdOpWrite, addr, 1, callpc)
	hdTellWriteFor(uintptr(addr), callpc, pc)
}

// hdMapWriting is called in the middle of writing the map m. If the instruction that writes it is a
// scheduling point, there is a second one here: until the goroutine continues, other goroutines'
// operations on the map are fatal errors. Executions to be compared may have other points, so they omit it.
//
//go:linkname hdMapWriting
func hdMapWriting(m unsafe.Pointer) {
	t := hdStops(getg())
	if t == nil || t.writes.addr != uintptr(m) {
		return // or a part of Go without scheduling points writes it, such as reflect
	}
	t.writes.addr = 0
	if hdIsPoint(t.writes.pc) && !hdCompared() {
		a := hdAccessing{pc: t.writes.pc, at: sys.GetCallerPC(), fp: hdDepth(getcallerfp())}
		hdPointAt(hdOpWrite, uintptr(m), 0, 0, 1, a.pc, hdAccessFrame(&a))
	}
}
