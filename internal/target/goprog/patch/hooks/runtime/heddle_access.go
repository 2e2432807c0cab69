//go:build heddle

// Plain accesses to memory, as the compiler and the runtime tell the race detector of them.
// Each is a scheduling point if its instruction is one of the plan's. The functions are
// those that Go's runtime/race.go declares and the race detector's assembly has. There are
// two heddle_race.go to go with this: with Go's race detector, which is told as well
// (hdTell…), and without.
package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// hdQuiet is how many accesses a goroutine may do without a scheduling point until it is
// made to yield: it may be waiting for somebody.
const hdQuiet = 20000

// hdWatched reports whether the access that the goroutine is about to do is of interest.
//
//go:nosplit
func hdWatched() bool {
	if !hd.active {
		return false
	}
	gp := getg()
	t := gp.hd
	if t == nil || t.goid != gp.goid {
		return false
	}
	t.quiet++
	return hd.watch || t.quiet >= hdQuiet
}

// hdAccess is an access of the instruction that returns to pc, somewhere up the stack. It
// uses little stack itself: package reflect calls it with next to none left.
//
//go:nosplit
func hdAccess(op uint16, addr, size, pc uintptr) {
	// What lies on a stack is its goroutine's own.
	if gp := getg(); addr >= gp.stack.lo && addr < gp.stack.hi {
		return
	}
	// What nobody can write is of no interest, and where in it a program looks may depend on
	// the outside world, as the digits of a port do.
	if md := &firstmoduledata; addr >= md.rodata && addr < md.noptrdata {
		return
	}
	// Not in functions that must not be seen by whoever moves stacks: package reflect's.
	class, known := hdClassKnown(pc) // not hdClassOfNosplit: a frame less
	if !known {
		hdAsked = pc
		systemstack(hdAsk)
		class, _ = hdClassKnown(pc)
	}
	if class != hdSkipLibrary {
		hdAccessed(op, addr, size, pc)
	}
}

func hdAccessed(op uint16, addr, size, pc uintptr) {
	t := getg().hd
	at, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
	for range 12 {
		if at == pc || at == 0 {
			break
		}
		at, fp = hdFrame(fp)
	}
	if at != pc {
		fp = 0
	}
	if t.quiet >= hdQuiet {
		hdForced(t, pc, fp)
	}
	if !hd.watch {
		return
	}
	if hdIsPoint(pc) && hdStops(getg()) != nil {
		hdPointAt(op, addr, 0, 0, uint32(size), pc, fp)
		return
	}
	if !hd.accesses || t.last.pc == pc && t.last.addr == addr {
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
	systemstack(func() {
		p := hdPend{op: op, pc: pc, obj: addr, size: uint32(size)}
		p.stack = hdStack(getg().m.curg, pc, fp, pc)
		hdRecord(t, &p, hdEvNochoice)
		t.last.pc, t.last.addr = pc, addr
	})
}

// hdForced is a yield of a goroutine that has gone on for long.
func hdForced(t *hdThread, pc, fp uintptr) {
	t.quiet = 0
	hdPointAt(hdOpGosched, 0, 0, 0, 0, pc, fp)
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
	if hdWatched() && size > 0 {
		hdAccess(op, uintptr(addr), size, callpc)
	}
}

//go:nosplit
func raceread(addr uintptr) {
	pc := sys.GetCallerPC()
	if hdWatched() {
		hdAccess(hdOpRead, addr, 1, pc)
	}
	hdTellRead(addr, pc)
}

//go:nosplit
func racewrite(addr uintptr) {
	pc := sys.GetCallerPC()
	if hdWatched() {
		hdAccess(hdOpWrite, addr, 1, pc)
	}
	hdTellWrite(addr, pc)
}

//go:nosplit
func racereadrange(addr, size uintptr) {
	pc := sys.GetCallerPC()
	if hdWatched() && size > 0 {
		hdAccess(hdOpReadRange, addr, size, pc)
	}
	hdTellReadRange(addr, size, pc)
}

//go:nosplit
func racewriterange(addr, size uintptr) {
	pc := sys.GetCallerPC()
	if hdWatched() && size > 0 {
		hdAccess(hdOpWriteRange, addr, size, pc)
	}
	hdTellWriteRange(addr, size, pc)
}

//go:nosplit
func RaceRead(addr unsafe.Pointer) {
	pc := sys.GetCallerPC()
	if hdWatched() {
		hdAccess(hdOpRead, uintptr(addr), 1, pc)
	}
	hdTellRead(uintptr(addr), pc)
}

//go:nosplit
func RaceWrite(addr unsafe.Pointer) {
	pc := sys.GetCallerPC()
	if hdWatched() {
		hdAccess(hdOpWrite, uintptr(addr), 1, pc)
	}
	hdTellWrite(uintptr(addr), pc)
}

//go:nosplit
func RaceReadRange(addr unsafe.Pointer, len int) {
	pc := sys.GetCallerPC()
	if hdWatched() && len > 0 {
		hdAccess(hdOpReadRange, uintptr(addr), uintptr(len), pc)
	}
	hdTellReadRange(uintptr(addr), uintptr(len), pc)
}

//go:nosplit
func RaceWriteRange(addr unsafe.Pointer, len int) {
	pc := sys.GetCallerPC()
	if hdWatched() && len > 0 {
		hdAccess(hdOpWriteRange, uintptr(addr), uintptr(len), pc)
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
