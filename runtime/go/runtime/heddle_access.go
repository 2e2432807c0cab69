//go:build heddle

// Plain accesses to memory, as the compiler and the runtime tell the race detector of them.
// Each is a scheduling point if its instruction is one of the plan's. The functions are
// those that Go's runtime/race.go declares and the race detector's assembly has. There are
// two heddle_race.go to go with this: with Go's race detector, which is told as well
// (hdTell…), and without.
package runtime

import (
	"internal/abi"
	"internal/runtime/sys"
	"unsafe"
)

// hdWatched reports whether the access at addr that the goroutine is about to do is of
// interest.
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

// The compiler calls these hooks at places at which its stack maps are not right: a variable
// may count as live before its first assignment, as the copy of a big receiver does in a
// wrapper that takes a pointer. Go's own hooks are assembly that switches to the scheduler's
// stack, so nobody ever looks. So here: from raceread and its like on, nothing may grow the
// goroutine's stack (all of it is nosplit, the rest runs on the scheduler's stack), and while
// such a goroutine waits for its turn the collector looks at the caller's frame
// conservatively (hdInstrumented).

// hdAccessing is the access that a goroutine is about to do. It lies in its thread: the
// arguments of a closure, or variables, would take more stack than package reflect leaves.
type hdAccessing struct {
	op              uint16
	forced, changes bool
	addr, size, pc  uintptr
	at, fp          uintptr // the frame of whoever called, to find that of pc from
}

// hdAccessOf is the instruction whose access hdAccess is told of: what returns there.
var hdAccessOf uintptr

// hdAccess is an access of the instruction hdAccessOf, somewhere up the stack; what is the
// operation and, from bit 16 on, its size. More arguments would take more stack than there
// is below package reflect on arm64.
//
//go:nosplit
func hdAccess(what uint64, addr uintptr) {
	// What lies on a stack is its goroutine's own.
	if gp := getg(); addr >= gp.stack.lo && addr < gp.stack.hi {
		return
	}
	// What nobody can write is of no interest, and where in it a program looks may depend on
	// the outside world, as the digits of a port do.
	if md := &firstmoduledata; addr >= md.rodata && addr < md.noptrdata {
		return
	}
	class, known := hdClassKnown(hdAccessOf)
	if !known {
		hdAsked = hdAccessOf
		systemstack(hdAsk)
		class, _ = hdClassKnown(hdAccessOf)
	}
	if class == hdSkipLibrary {
		return
	}
	a := &getg().hd.access
	a.op, a.addr, a.size, a.pc = uint16(what), addr, uintptr(what>>16), hdAccessOf
	a.at, a.fp = sys.GetCallerPC(), hdDepth(getcallerfp())
	for again := true; again; again = getg().hd.access.forced { // for a yield, first
		systemstack(hdAccessed)
		if getg().hd.access.changes {
			mcall(hdSwitch)
		}
	}
}

// hdAccessed runs on the scheduler's stack. It leaves in changes whether another goroutine
// is to go on, and in forced whether that is for a yield, before the access.
func hdAccessed() {
	gp := getg().m.curg
	t := gp.hd
	a := &t.access
	a.changes, a.forced = false, false
	at, fp := a.at, a.fp
	for range 12 {
		if at == a.pc || at == 0 {
			break
		}
		at, fp = hdFrame(fp)
	}
	if at != a.pc {
		fp = 0
	}
	stops := hdStops(gp) != nil
	if t.quiet >= hdQuiet && stops && hdQuietOver(t, a.pc, fp) {
		hd.forced = true
		if hdStop(t, hdOpGosched, 0, 0, 0, 0, a.pc, fp) {
			a.changes, a.forced = true, true
			return
		}
	}
	if !hd.watch || t.finalizes {
		return // what a finalizer does comes after all that the program did with the object
	}
	if hdIsPoint(a.pc) && stops {
		a.changes = hdStop(t, a.op, a.addr, 0, 0, uint32(a.size), a.pc, fp)
		return
	}
	if !hd.record || !hd.accesses || t.last.pc == a.pc && t.last.addr == a.addr {
		return
	}
	nth := hd.profiled
	hd.profiled++
	if nth < hd.plan.SkipAccesses || nth-hd.plan.SkipAccesses >= hd.plan.MaxAccesses {
		if nth >= hd.plan.SkipAccesses {
			hd.result.Notes |= hdNoteAccesses
			hd.accesses, hd.watch = false, hd.npoints > 0
		}
		return
	}
	p := hdPend{op: a.op, pc: a.pc, obj: a.addr, size: uint32(a.size)}
	p.stack = hdStack(gp, a.pc, fp, a.pc)
	hdRecord(t, &p, hdEvNodecision)
	t.last.pc, t.last.addr = a.pc, a.addr
}

// hdForced is a yield that heddle puts in.
func hdForced(t *hdThread, pc, fp uintptr) {
	t.quiet = 0
	hd.forced = hdStops(getg()) != nil
	hdPointAt(hdOpGosched, 0, 0, 0, 0, pc, fp)
}

// hdInstrumented reports whether the function around pc is one that the compiler calls for
// an access: the stack map of its caller is not right there.
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

// hdClassKnown is hdClassOf(pc) if that has been asked before.
//
//go:nosplit
func hdClassKnown(pc uintptr) (class uint8, known bool) {
	c := &hdClasses[(pc^pc>>13)%hdClassSlots]
	return c.class, c.pc == pc
}

// hdAsked is what hdAsk asks for. A closure would take more stack.
var hdAsked uintptr

func hdAsk() { hdClassOf(hdAsked) }

// hdClassOfNosplit is hdClassOf for who must not grow the stack.
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

// hdAccessPC is an access that the runtime does for an instruction of the program, which
// returns to callpc.
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
	hdAccessPC(hdOpRead, addr, 1, callpc)
	hdTellReadFor(uintptr(addr), callpc, pc)
}

func racewritepc(addr unsafe.Pointer, callpc, pc uintptr) {
	hdAccessPC(hdOpWrite, addr, 1, callpc)
	hdTellWriteFor(uintptr(addr), callpc, pc)
}
