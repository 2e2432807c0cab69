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

// hdWatched is the goroutine's thread if the access it is about to do is of interest.
//
//go:nosplit
func hdWatched() *hdThread {
	if !hd.active {
		return nil
	}
	gp := getg()
	t := gp.hd
	if t == nil || t.goid != gp.goid {
		return nil
	}
	t.quiet++
	if !hd.watch && t.quiet < hdQuiet {
		return nil
	}
	return t
}

// hdAccess is an access of the instruction that returns to pc; fp is the frame of the
// function it is in.
//
//go:nosplit
func hdAccess(t *hdThread, op uint16, addr, size, pc, fp uintptr) {
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
	if hdClassOfNosplit(pc) != hdSkipLibrary {
		hdAccessed(t, op, addr, size, pc, fp)
	}
}

func hdAccessed(t *hdThread, op uint16, addr, size, pc, fp uintptr) {
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

//go:nosplit
func hdClassOfNosplit(pc uintptr) (class uint8) {
	if c := &hdClasses[(pc^pc>>13)%hdClassSlots]; c.pc == pc {
		return c.class
	}
	systemstack(func() { class = hdClassOf(pc) })
	return class
}

// hdAccessPC is an access that the runtime does for an instruction of the program, which
// returns to callpc.
func hdAccessPC(op uint16, addr unsafe.Pointer, size, callpc uintptr) {
	if t := hdWatched(); t != nil && size > 0 {
		pc, fp := sys.GetCallerPC(), hdDepth(getcallerfp())
		for range 8 {
			if pc == callpc || pc == 0 {
				break
			}
			pc, fp = hdFrame(fp)
		}
		if pc == 0 {
			pc, fp = callpc, 0
		}
		hdAccess(t, op, uintptr(addr), size, pc, fp)
	}
}

//go:nosplit
func raceread(addr uintptr) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpRead, addr, 1, pc, hdDepth(getcallerfp()))
	}
	hdTellRead(addr, pc)
}

//go:nosplit
func racewrite(addr uintptr) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpWrite, addr, 1, pc, hdDepth(getcallerfp()))
	}
	hdTellWrite(addr, pc)
}

//go:nosplit
func racereadrange(addr, size uintptr) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil && size > 0 {
		hdAccess(t, hdOpReadRange, addr, size, pc, hdDepth(getcallerfp()))
	}
	hdTellReadRange(addr, size, pc)
}

//go:nosplit
func racewriterange(addr, size uintptr) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil && size > 0 {
		hdAccess(t, hdOpWriteRange, addr, size, pc, hdDepth(getcallerfp()))
	}
	hdTellWriteRange(addr, size, pc)
}

//go:nosplit
func RaceRead(addr unsafe.Pointer) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpRead, uintptr(addr), 1, pc, hdDepth(getcallerfp()))
	}
	hdTellRead(uintptr(addr), pc)
}

//go:nosplit
func RaceWrite(addr unsafe.Pointer) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpWrite, uintptr(addr), 1, pc, hdDepth(getcallerfp()))
	}
	hdTellWrite(uintptr(addr), pc)
}

//go:nosplit
func RaceReadRange(addr unsafe.Pointer, len int) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil && len > 0 {
		hdAccess(t, hdOpReadRange, uintptr(addr), uintptr(len), pc, hdDepth(getcallerfp()))
	}
	hdTellReadRange(uintptr(addr), uintptr(len), pc)
}

//go:nosplit
func RaceWriteRange(addr unsafe.Pointer, len int) {
	pc := sys.GetCallerPC()
	if t := hdWatched(); t != nil && len > 0 {
		hdAccess(t, hdOpWriteRange, uintptr(addr), uintptr(len), pc, hdDepth(getcallerfp()))
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
