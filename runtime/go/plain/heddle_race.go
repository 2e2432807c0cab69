//go:build heddle

// Passes to heddle what the compiler and the runtime report to the race detector. This file
// replaces Go's runtime/race.go and defines the functions declared there; release, merge and
// acquire of an address keep their meaning.
package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const raceenabled = true

// hdOrdered records that the thread of gp acquires or releases the object at addr.
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
	hdLocked(t, op == hdOpAcquire, uintptr(addr))
	if hd.record || hd.watching {
		systemstack(func() {
			hdOrders(t, &hdPend{op: op, pc: t.pend.pc, obj: uintptr(addr), stack: t.pend.stack})
		})
	}
}

func hdOrders(t *hdThread, p *hdPend) {
	if hd.watching {
		hdWatchEvent(t, p)
	}
	if hd.record {
		hdRecord(t, p, hdEvNodecision)
	}
}

// hdOrderThread returns the thread on whose behalf gp acts. A scheduler's stack that runs timers
// acts for the clock.
//
//go:nosplit
func hdOrderThread(gp *g) *hdThread {
	if gp == nil {
		return nil
	}
	if gp.m != nil && gp == gp.m.g0 { // a parked goroutine has no m
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
	if gp == hd.signals.ptr() { // what was done before signal.Notify comes before the receive of a signal
		systemstack(func() { hdClock() })
		return hd.clock
	}
	return hdThreadOf(gp)
}

const hdTimerCtx = 2

func raceinit() (gctx, pctx uintptr)                  { return 1, 1 }
func racefini()                                       {}
func raceproccreate() uintptr                         { return 1 }
func raceprocdestroy(ctx uintptr)                     {}
func racemapshadow(addr unsafe.Pointer, size uintptr) {}
func racefree(p unsafe.Pointer, sz uintptr)           {} // racemalloc comes before any other use
func racegoend()                                      {}
func racectxstart(pc, spawnctx uintptr) uintptr       { return hdTimerCtx }
func racectxend(racectx uintptr)                      {}
func racefingo()                                      {}

//go:nosplit
func racemalloc(p unsafe.Pointer, sz uintptr) { hdAllocated(p, sz) }

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

// hdKind returns t's kind; the field differs between releases.
func hdKind(t *_type) abi.Kind { return t.Kind_ & (1<<5 - 1) }

//go:nosplit
func raceacquire(addr unsafe.Pointer) { hdOrdered(hdOpAcquire, getg(), addr) }

//go:nosplit
func raceacquireg(gp *g, addr unsafe.Pointer) { hdOrdered(hdOpAcquire, gp, addr) }

//go:nosplit
func raceacquirectx(racectx uintptr, addr unsafe.Pointer) {
	if !hd.active || !hd.record && !hd.watching {
		return
	}
	// A timer of a bubble, and one whose channel is received from when it is due, fires without having been chosen: it may be the first.
	systemstack(func() { hdOrders(hdClock(), &hdPend{op: hdOpAcquire, obj: uintptr(addr)}) })
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

// RaceErrors returns 0: heddle reports the races.
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

// Go's own packages say by these what they access for the program: buffers of system calls, the arguments of functions in
// assembly. The access is their caller's.

//go:linkname race_Read internal/race.Read
func race_Read(addr unsafe.Pointer) { hdAccessPC(hdOpRead, addr, 1, sys.GetCallerPC()) }

//go:linkname race_Write internal/race.Write
func race_Write(addr unsafe.Pointer) { hdAccessPC(hdOpWrite, addr, 1, sys.GetCallerPC()) }

//go:linkname race_ReadRange internal/race.ReadRange
func race_ReadRange(addr unsafe.Pointer, len int) {
	hdAccessPC(hdOpReadRange, addr, uintptr(len), sys.GetCallerPC())
}

//go:linkname race_WriteRange internal/race.WriteRange
func race_WriteRange(addr unsafe.Pointer, len int) {
	hdAccessPC(hdOpWriteRange, addr, uintptr(len), sys.GetCallerPC())
}

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

// Without a race detector nothing is reported; each function only performs the atomic operation.

//go:nosplit
func hdTellRead(addr, pc uintptr) {}

//go:nosplit
func hdTellWrite(addr, pc uintptr) {}

//go:nosplit
func hdTellReadRange(addr, size, pc uintptr) {}

//go:nosplit
func hdTellWriteRange(addr, size, pc uintptr) {}

//go:nosplit
func hdTellReadFor(addr, callpc, pc uintptr) {}

//go:nosplit
func hdTellWriteFor(addr, callpc, pc uintptr) {}

//go:nosplit
func hdLoad4(addr unsafe.Pointer, callpc uintptr) uint32 {
	return atomic.Load((*uint32)(addr))
}

//go:nosplit
func hdStore4(addr unsafe.Pointer, v uint32, callpc uintptr) {
	atomic.Store((*uint32)(addr), v)
}

//go:nosplit
func hdSwap4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	return atomic.Xchg((*uint32)(addr), v)
}

//go:nosplit
func hdCas4(addr unsafe.Pointer, old, v uint32, callpc uintptr) bool {
	return atomic.Cas((*uint32)(addr), old, v)
}

//go:nosplit
func hdAdd4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	return atomic.Xadd((*uint32)(addr), int32(v))
}

//go:nosplit
func hdAnd4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	return atomic.And32((*uint32)(addr), v)
}

//go:nosplit
func hdOr4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	return atomic.Or32((*uint32)(addr), v)
}

//go:nosplit
func hdLoad8(addr unsafe.Pointer, callpc uintptr) uint64 {
	return atomic.Load64((*uint64)(addr))
}

//go:nosplit
func hdStore8(addr unsafe.Pointer, v uint64, callpc uintptr) {
	atomic.Store64((*uint64)(addr), v)
}

//go:nosplit
func hdSwap8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	return atomic.Xchg64((*uint64)(addr), v)
}

//go:nosplit
func hdCas8(addr unsafe.Pointer, old, v uint64, callpc uintptr) bool {
	return atomic.Cas64((*uint64)(addr), old, v)
}

//go:nosplit
func hdAdd8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	return atomic.Xadd64((*uint64)(addr), int64(v))
}

//go:nosplit
func hdAnd8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	return atomic.And64((*uint64)(addr), v)
}

//go:nosplit
func hdOr8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	return atomic.Or64((*uint64)(addr), v)
}
