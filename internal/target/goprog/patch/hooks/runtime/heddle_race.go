//go:build heddle

// What the compiler and the runtime tell the race detector, told to heddle instead: plain
// accesses, and what orders them. The functions are those that Go's runtime/race.go
// declares, whose place this file takes; the release, merge and acquire of an address
// mean what they mean there.
package runtime

import (
	"internal/abi"
	"internal/runtime/sys"
	"unsafe"
)

const raceenabled = true

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

// hdOrdered records that the thread of gp acquires or releases what addr stands for.
//
//go:nosplit
func hdOrdered(op uint16, gp *g, addr unsafe.Pointer) {
	if !hd.active {
		return
	}
	t := hdOrderThread(gp)
	if t == nil {
		return
	}
	if op != hdOpAcquire {
		t.last.pc = 0
	}
	if op == hdOpAcquire && t.pend.obj == uintptr(addr) && t.pend.op >= hdOpGmutexLock && t.pend.op <= hdOpRwTrylock {
		hdOwn(uintptr(addr), t.index+1)
	} else if op != hdOpAcquire && t.pend.obj == uintptr(addr) && (t.pend.op == hdOpGmutexUnlock || t.pend.op == hdOpRwUnlock || t.pend.op == hdOpRwRunlock) {
		hdOwn(uintptr(addr), 0)
	}
	if !hd.record {
		return
	}
	systemstack(func() {
		p := hdPend{op: op, pc: t.pend.pc, obj: uintptr(addr), stack: t.pend.stack}
		hdRecord(t, &p, hdEvNochoice)
	})
}

// hdOrderThread is the thread on whose behalf gp does something: for a scheduler's stack
// that runs timers it is the clock.
//
//go:nosplit
func hdOrderThread(gp *g) *hdThread {
	if gp == nil {
		return nil
	}
	if gp.m != nil && gp == gp.m.g0 { // a goroutine that is parked has no m
		if gp.racectx == hdTimerCtx {
			return hd.clock
		}
		gp = gp.m.curg
		if gp == nil {
			return nil
		}
	}
	if gp.raceignore != 0 {
		return nil
	}
	return hdThreadOf(gp)
}

const hdTimerCtx = 2

func raceinit() (gctx, pctx uintptr)                  { return 1, 1 }
func racefini()                                       {}
func raceproccreate() uintptr                         { return 1 }
func raceprocdestroy(ctx uintptr)                     {}
func racemapshadow(addr unsafe.Pointer, size uintptr) {}
func racemalloc(p unsafe.Pointer, sz uintptr)         {}
func racefree(p unsafe.Pointer, sz uintptr)           {}
func racegoend()                                      {}
func racectxstart(pc, spawnctx uintptr) uintptr       { return hdTimerCtx }
func racectxend(racectx uintptr)                      {}
func racefingo()                                      {}

func racegostart(pc uintptr) uintptr {
	if pc == abi.FuncPCABIInternal((*timers).run)+sys.PCQuantum {
		return hdTimerCtx
	}
	return 1
}

//go:nosplit
func racefuncenter(callpc uintptr) {}

//go:nosplit
func racefuncenterfp(fp uintptr) {}

//go:nosplit
func racefuncexit() {}

//go:nosplit
func raceread(addr uintptr) {
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpRead, addr, 1, sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

//go:nosplit
func racewrite(addr uintptr) {
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpWrite, addr, 1, sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

//go:nosplit
func racereadrange(addr, size uintptr) {
	if t := hdWatched(); t != nil && size > 0 {
		hdAccess(t, hdOpReadRange, addr, size, sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

//go:nosplit
func racewriterange(addr, size uintptr) {
	if t := hdWatched(); t != nil && size > 0 {
		hdAccess(t, hdOpWriteRange, addr, size, sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
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

func racereadpc(addr unsafe.Pointer, callpc, pc uintptr)  { hdAccessPC(hdOpRead, addr, 1, callpc) }
func racewritepc(addr unsafe.Pointer, callpc, pc uintptr) { hdAccessPC(hdOpWrite, addr, 1, callpc) }
func racereadrangepc(addr unsafe.Pointer, sz, callpc, pc uintptr) {
	hdAccessPC(hdOpReadRange, addr, sz, callpc)
}
func racewriterangepc(addr unsafe.Pointer, sz, callpc, pc uintptr) {
	hdAccessPC(hdOpWriteRange, addr, sz, callpc)
}

func raceReadObjectPC(t *_type, addr unsafe.Pointer, callerpc, pc uintptr) {
	if k := hdKind(t); k == abi.Array || k == abi.Struct {
		racereadrangepc(addr, t.Size_, callerpc, pc)
	} else {
		racereadpc(addr, callerpc, pc)
	}
}

func raceWriteObjectPC(t *_type, addr unsafe.Pointer, callerpc, pc uintptr) {
	if k := hdKind(t); k == abi.Array || k == abi.Struct {
		racewriterangepc(addr, t.Size_, callerpc, pc)
	} else {
		racewritepc(addr, callerpc, pc)
	}
}

// hdKind is t's kind; how it is asked for differs between releases.
func hdKind(t *_type) abi.Kind { return t.Kind_ & (1<<5 - 1) }

//go:nosplit
func raceacquire(addr unsafe.Pointer) { hdOrdered(hdOpAcquire, getg(), addr) }

//go:nosplit
func raceacquireg(gp *g, addr unsafe.Pointer) { hdOrdered(hdOpAcquire, gp, addr) }

//go:nosplit
func raceacquirectx(racectx uintptr, addr unsafe.Pointer) {
	if !hd.active || !hd.record || hd.clock == nil {
		return
	}
	t := hd.clock
	systemstack(func() {
		p := hdPend{op: hdOpAcquire, obj: uintptr(addr)}
		hdRecord(t, &p, hdEvNochoice)
	})
}

//go:nosplit
func racerelease(addr unsafe.Pointer) { hdOrdered(hdOpRelease, getg(), addr) }

//go:nosplit
func racereleaseg(gp *g, addr unsafe.Pointer) { hdOrdered(hdOpRelease, gp, addr) }

//go:nosplit
func racereleaseacquire(addr unsafe.Pointer) { hdOrdered(hdOpReleaseAcquire, getg(), addr) }

//go:nosplit
func racereleaseacquireg(gp *g, addr unsafe.Pointer) { hdOrdered(hdOpReleaseAcquire, gp, addr) }

//go:nosplit
func racereleasemerge(addr unsafe.Pointer) { hdOrdered(hdOpReleaseMerge, getg(), addr) }

//go:nosplit
func racereleasemergeg(gp *g, addr unsafe.Pointer) { hdOrdered(hdOpReleaseMerge, gp, addr) }

// ---- the public interface, and that of internal/race

//go:nosplit
func RaceRead(addr unsafe.Pointer) {
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpRead, uintptr(addr), 1, sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

//go:nosplit
func RaceWrite(addr unsafe.Pointer) {
	if t := hdWatched(); t != nil {
		hdAccess(t, hdOpWrite, uintptr(addr), 1, sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

//go:nosplit
func RaceReadRange(addr unsafe.Pointer, len int) {
	if t := hdWatched(); t != nil && len > 0 {
		hdAccess(t, hdOpReadRange, uintptr(addr), uintptr(len), sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

//go:nosplit
func RaceWriteRange(addr unsafe.Pointer, len int) {
	if t := hdWatched(); t != nil && len > 0 {
		hdAccess(t, hdOpWriteRange, uintptr(addr), uintptr(len), sys.GetCallerPC(), hdDepth(getcallerfp()))
	}
}

// RaceErrors is 0: what races is heddle's to tell.
func RaceErrors() int { return 0 }

//go:nosplit
func RaceAcquire(addr unsafe.Pointer) { raceacquire(addr) }

//go:nosplit
func RaceRelease(addr unsafe.Pointer) { racerelease(addr) }

//go:nosplit
func RaceReleaseMerge(addr unsafe.Pointer) { racereleasemerge(addr) }

//go:nosplit
func RaceDisable() { getg().raceignore++ }

//go:nosplit
func RaceEnable() { getg().raceignore-- }

//go:linkname race_Read internal/race.Read
//go:nosplit
func race_Read(addr unsafe.Pointer) { RaceRead(addr) }

//go:linkname race_Write internal/race.Write
//go:nosplit
func race_Write(addr unsafe.Pointer) { RaceWrite(addr) }

//go:linkname race_ReadRange internal/race.ReadRange
//go:nosplit
func race_ReadRange(addr unsafe.Pointer, len int) { RaceReadRange(addr, len) }

//go:linkname race_WriteRange internal/race.WriteRange
//go:nosplit
func race_WriteRange(addr unsafe.Pointer, len int) { RaceWriteRange(addr, len) }

//go:linkname race_Errors internal/race.Errors
//go:nosplit
func race_Errors() int { return 0 }

//go:linkname race_Acquire internal/race.Acquire
//go:nosplit
func race_Acquire(addr unsafe.Pointer) { raceacquire(addr) }

//go:linkname race_Release internal/race.Release
//go:nosplit
func race_Release(addr unsafe.Pointer) { racerelease(addr) }

//go:linkname race_ReleaseMerge internal/race.ReleaseMerge
//go:nosplit
func race_ReleaseMerge(addr unsafe.Pointer) { racereleasemerge(addr) }

//go:linkname race_Disable internal/race.Disable
//go:nosplit
func race_Disable() { RaceDisable() }

//go:linkname race_Enable internal/race.Enable
//go:nosplit
func race_Enable() { RaceEnable() }

//go:linkname race_ReadObjectPC internal/race.ReadObjectPC
func race_ReadObjectPC(t *abi.Type, addr unsafe.Pointer, callerpc, pc uintptr) {
	raceReadObjectPC(t, addr, callerpc, pc)
}

//go:linkname race_WriteObjectPC internal/race.WriteObjectPC
func race_WriteObjectPC(t *abi.Type, addr unsafe.Pointer, callerpc, pc uintptr) {
	raceWriteObjectPC(t, addr, callerpc, pc)
}

//go:linkname race_ReadPC internal/race.ReadPC
func race_ReadPC(addr unsafe.Pointer, callerpc, pc uintptr) { racereadpc(addr, callerpc, pc) }

//go:linkname race_WritePC internal/race.WritePC
func race_WritePC(addr unsafe.Pointer, callerpc, pc uintptr) { racewritepc(addr, callerpc, pc) }
