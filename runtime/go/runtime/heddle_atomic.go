//go:build heddle

// With the race tag, sync/atomic has no bodies: the race detector's assembly supplies them. This
// file defines them in Go, each with a hook before the operation; heddle_race.go performs the
// operation itself (hdLoad4, hdAdd8).
//
// StorePointer, SwapPointer and CompareAndSwapPointer are always in the runtime (atomic_pointer.go)
// and arrive here in their uintptr forms.
package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// hdAtomic handles the atomic operation op on size bytes at addr, of the instruction that returns
// to pc. It is a scheduling point, except inside Go's own packages, where it only orders.
//
//go:nosplit
func hdAtomic(op uint16, addr unsafe.Pointer, size uint32, operand uint64, old uintptr, add bool, pc, fp uintptr) {
	if !hd.active {
		return
	}
	gp := getg()
	t := gp.hd
	if t == nil || t.goid != gp.goid || gp != gp.m.curg {
		return
	}
	if t.pointer {
		t.pointer = false
		return
	}
	hdAtomics(t, op, addr, size, operand, old, add, pc, fp)
}

// hdAtomicPointer is hdAtomic for an operation that stores a pointer. It runs before Go's runtime
// reports the store to the collector. After that report no other goroutine may run, and once the
// pointer is a number (hd_StoreUintptr) nothing keeps its object alive.
func hdAtomicPointer(op uint16, addr *unsafe.Pointer, old, new unsafe.Pointer) {
	gp := getg()
	if !hd.active || gp != gp.m.curg {
		return
	}
	t := hdThreadOf(gp)
	if t == nil {
		return
	}
	t.pointer = false
	hdAtomics(t, op, unsafe.Pointer(addr), 8, uint64(uintptr(new)), uintptr(old), false, sys.GetCallerPC(), hdDepth(getcallerfp()))
	t.pointer = true
}

func hdAtomics(t *hdThread, op uint16, addr unsafe.Pointer, size uint32, operand uint64, old uintptr, add bool, pc, fp uintptr) {
	gp := getg()
	t.last.pc = 0
	t.quiet++
	if t.quiet >= hdQuiet && hdStops(gp) != nil {
		yields := false
		systemstack(func() { yields = hdQuietOver(t, pc, fp) })
		if yields {
			hdForced(t, pc, fp)
		}
	}
	// The caller may be a function such as atomic.Int32.Add that was not inlined.
	for hdGroupOfNosplit(pc)&hdGroupAtomic != 0 && fp != 0 {
		at, next := hdFrame(fp)
		if at == 0 {
			break
		}
		pc, fp = at, next
	}
	own := hdClassOfNosplit(pc) != 0
	if own && (hdGroupOfNosplit(pc)&hdGroupMutex != 0 || gp.raceignore != 0) {
		return // what it orders is reported by acquires and releases
	}
	if !own && hdStops(gp) != nil {
		if value := hdLoad(addr, size); hdChangesNothing(op, value, operand, uint64(old), add) {
			hdFruitless(t, value)
		}
		hd.adds = add
		hdPointAt(op, uintptr(addr), old, operand, size, pc, fp)
		return
	}
	if !hd.record && !hd.watching || gp.raceignore != 0 {
		return
	}
	systemstack(func() {
		p := hdPend{op: op, pc: pc, obj: uintptr(addr), size: size, aux: old, value: operand}
		if add {
			p.result = 1
		}
		hdAtomicEffect(&p)
		if hd.watching {
			hdWatchEvent(t, &p)
		}
		if hd.record {
			p.stack = hdStack(getg().m.curg, pc, fp, pc)
			hdRecord(t, &p, hdEvNodecision)
		}
	})
}

// hdChangesNothing reports whether the operation leaves value as it is.
func hdChangesNothing(op uint16, value, operand, old uint64, add bool) bool {
	switch op {
	case hdOpAtomicLoad:
		return true
	case hdOpAtomicCas:
		return value != old
	case hdOpAtomicRmw:
		return add && operand == 0 || !add && operand == value // And and Or behave like Swap
	}
	return false
}

//go:nosplit
func hdLoad(addr unsafe.Pointer, size uint32) uint64 {
	if addr == nil {
		return 0
	}
	if size == 4 {
		return uint64(atomic.Load((*uint32)(addr)))
	}
	return atomic.Load64((*uint64)(addr))
}

// hdAtomicEffect determines what the operation will read and write: no other goroutine runs before
// it.
func hdAtomicEffect(p *hdPend) {
	if p.obj < 4096 {
		return
	}
	seen := hdLoad(unsafe.Pointer(p.obj), p.size)
	switch p.op {
	case hdOpAtomicLoad:
		p.value = seen
	case hdOpAtomicRmw:
		if p.result != 0 {
			p.value += seen
			if p.size == 4 {
				p.value = uint64(uint32(p.value))
			}
		}
		p.aux = uintptr(seen)
		p.result = 0
	case hdOpAtomicCas:
		p.result = 0
		if seen == uint64(p.aux) {
			p.result = 1
		}
		p.value = seen
	}
}

//go:linkname hd_LoadInt32 sync/atomic.LoadInt32
//go:nosplit
func hd_LoadInt32(addr *int32) int32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicLoad, unsafe.Pointer(addr), 4, 0, 0, false, pc, hdDepth(getcallerfp()))
	return int32(hdLoad4(unsafe.Pointer(addr), pc))
}

//go:linkname hd_StoreInt32 sync/atomic.StoreInt32
//go:nosplit
func hd_StoreInt32(addr *int32, val int32) {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicStore, unsafe.Pointer(addr), 4, uint64(uint32(val)), 0, false, pc, hdDepth(getcallerfp()))
	hdStore4(unsafe.Pointer(addr), uint32(val), pc)
}

//go:linkname hd_SwapInt32 sync/atomic.SwapInt32
//go:nosplit
func hd_SwapInt32(addr *int32, new int32) int32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(new)), 0, false, pc, hdDepth(getcallerfp()))
	return int32(hdSwap4(unsafe.Pointer(addr), uint32(new), pc))
}

//go:linkname hd_CompareAndSwapInt32 sync/atomic.CompareAndSwapInt32
//go:nosplit
func hd_CompareAndSwapInt32(addr *int32, old, new int32) bool {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicCas, unsafe.Pointer(addr), 4, uint64(uint32(new)), uintptr(uint32(old)), false, pc, hdDepth(getcallerfp()))
	return hdCas4(unsafe.Pointer(addr), uint32(old), uint32(new), pc)
}

//go:linkname hd_AddInt32 sync/atomic.AddInt32
//go:nosplit
func hd_AddInt32(addr *int32, delta int32) int32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(delta)), 0, true, pc, hdDepth(getcallerfp()))
	return int32(hdAdd4(unsafe.Pointer(addr), uint32(delta), pc))
}

//go:linkname hd_AndInt32 sync/atomic.AndInt32
//go:nosplit
func hd_AndInt32(addr *int32, mask int32) int32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return int32(hdAnd4(unsafe.Pointer(addr), uint32(mask), pc))
}

//go:linkname hd_OrInt32 sync/atomic.OrInt32
//go:nosplit
func hd_OrInt32(addr *int32, mask int32) int32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return int32(hdOr4(unsafe.Pointer(addr), uint32(mask), pc))
}

//go:linkname hd_LoadInt64 sync/atomic.LoadInt64
//go:nosplit
func hd_LoadInt64(addr *int64) int64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicLoad, unsafe.Pointer(addr), 8, 0, 0, false, pc, hdDepth(getcallerfp()))
	return int64(hdLoad8(unsafe.Pointer(addr), pc))
}

//go:linkname hd_StoreInt64 sync/atomic.StoreInt64
//go:nosplit
func hd_StoreInt64(addr *int64, val int64) {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicStore, unsafe.Pointer(addr), 8, uint64(uint64(val)), 0, false, pc, hdDepth(getcallerfp()))
	hdStore8(unsafe.Pointer(addr), uint64(val), pc)
}

//go:linkname hd_SwapInt64 sync/atomic.SwapInt64
//go:nosplit
func hd_SwapInt64(addr *int64, new int64) int64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(new)), 0, false, pc, hdDepth(getcallerfp()))
	return int64(hdSwap8(unsafe.Pointer(addr), uint64(new), pc))
}

//go:linkname hd_CompareAndSwapInt64 sync/atomic.CompareAndSwapInt64
//go:nosplit
func hd_CompareAndSwapInt64(addr *int64, old, new int64) bool {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicCas, unsafe.Pointer(addr), 8, uint64(uint64(new)), uintptr(uint64(old)), false, pc, hdDepth(getcallerfp()))
	return hdCas8(unsafe.Pointer(addr), uint64(old), uint64(new), pc)
}

//go:linkname hd_AddInt64 sync/atomic.AddInt64
//go:nosplit
func hd_AddInt64(addr *int64, delta int64) int64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(delta)), 0, true, pc, hdDepth(getcallerfp()))
	return int64(hdAdd8(unsafe.Pointer(addr), uint64(delta), pc))
}

//go:linkname hd_AndInt64 sync/atomic.AndInt64
//go:nosplit
func hd_AndInt64(addr *int64, mask int64) int64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return int64(hdAnd8(unsafe.Pointer(addr), uint64(mask), pc))
}

//go:linkname hd_OrInt64 sync/atomic.OrInt64
//go:nosplit
func hd_OrInt64(addr *int64, mask int64) int64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return int64(hdOr8(unsafe.Pointer(addr), uint64(mask), pc))
}

//go:linkname hd_LoadUint32 sync/atomic.LoadUint32
//go:nosplit
func hd_LoadUint32(addr *uint32) uint32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicLoad, unsafe.Pointer(addr), 4, 0, 0, false, pc, hdDepth(getcallerfp()))
	return uint32(hdLoad4(unsafe.Pointer(addr), pc))
}

//go:linkname hd_StoreUint32 sync/atomic.StoreUint32
//go:nosplit
func hd_StoreUint32(addr *uint32, val uint32) {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicStore, unsafe.Pointer(addr), 4, uint64(uint32(val)), 0, false, pc, hdDepth(getcallerfp()))
	hdStore4(unsafe.Pointer(addr), uint32(val), pc)
}

//go:linkname hd_SwapUint32 sync/atomic.SwapUint32
//go:nosplit
func hd_SwapUint32(addr *uint32, new uint32) uint32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(new)), 0, false, pc, hdDepth(getcallerfp()))
	return uint32(hdSwap4(unsafe.Pointer(addr), uint32(new), pc))
}

//go:linkname hd_CompareAndSwapUint32 sync/atomic.CompareAndSwapUint32
//go:nosplit
func hd_CompareAndSwapUint32(addr *uint32, old, new uint32) bool {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicCas, unsafe.Pointer(addr), 4, uint64(uint32(new)), uintptr(uint32(old)), false, pc, hdDepth(getcallerfp()))
	return hdCas4(unsafe.Pointer(addr), uint32(old), uint32(new), pc)
}

//go:linkname hd_AddUint32 sync/atomic.AddUint32
//go:nosplit
func hd_AddUint32(addr *uint32, delta uint32) uint32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(delta)), 0, true, pc, hdDepth(getcallerfp()))
	return uint32(hdAdd4(unsafe.Pointer(addr), uint32(delta), pc))
}

//go:linkname hd_AndUint32 sync/atomic.AndUint32
//go:nosplit
func hd_AndUint32(addr *uint32, mask uint32) uint32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return uint32(hdAnd4(unsafe.Pointer(addr), uint32(mask), pc))
}

//go:linkname hd_OrUint32 sync/atomic.OrUint32
//go:nosplit
func hd_OrUint32(addr *uint32, mask uint32) uint32 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 4, uint64(uint32(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return uint32(hdOr4(unsafe.Pointer(addr), uint32(mask), pc))
}

//go:linkname hd_LoadUint64 sync/atomic.LoadUint64
//go:nosplit
func hd_LoadUint64(addr *uint64) uint64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicLoad, unsafe.Pointer(addr), 8, 0, 0, false, pc, hdDepth(getcallerfp()))
	return uint64(hdLoad8(unsafe.Pointer(addr), pc))
}

//go:linkname hd_StoreUint64 sync/atomic.StoreUint64
//go:nosplit
func hd_StoreUint64(addr *uint64, val uint64) {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicStore, unsafe.Pointer(addr), 8, uint64(uint64(val)), 0, false, pc, hdDepth(getcallerfp()))
	hdStore8(unsafe.Pointer(addr), uint64(val), pc)
}

//go:linkname hd_SwapUint64 sync/atomic.SwapUint64
//go:nosplit
func hd_SwapUint64(addr *uint64, new uint64) uint64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(new)), 0, false, pc, hdDepth(getcallerfp()))
	return uint64(hdSwap8(unsafe.Pointer(addr), uint64(new), pc))
}

//go:linkname hd_CompareAndSwapUint64 sync/atomic.CompareAndSwapUint64
//go:nosplit
func hd_CompareAndSwapUint64(addr *uint64, old, new uint64) bool {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicCas, unsafe.Pointer(addr), 8, uint64(uint64(new)), uintptr(uint64(old)), false, pc, hdDepth(getcallerfp()))
	return hdCas8(unsafe.Pointer(addr), uint64(old), uint64(new), pc)
}

//go:linkname hd_AddUint64 sync/atomic.AddUint64
//go:nosplit
func hd_AddUint64(addr *uint64, delta uint64) uint64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(delta)), 0, true, pc, hdDepth(getcallerfp()))
	return uint64(hdAdd8(unsafe.Pointer(addr), uint64(delta), pc))
}

//go:linkname hd_AndUint64 sync/atomic.AndUint64
//go:nosplit
func hd_AndUint64(addr *uint64, mask uint64) uint64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return uint64(hdAnd8(unsafe.Pointer(addr), uint64(mask), pc))
}

//go:linkname hd_OrUint64 sync/atomic.OrUint64
//go:nosplit
func hd_OrUint64(addr *uint64, mask uint64) uint64 {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return uint64(hdOr8(unsafe.Pointer(addr), uint64(mask), pc))
}

//go:linkname hd_LoadUintptr sync/atomic.LoadUintptr
//go:nosplit
func hd_LoadUintptr(addr *uintptr) uintptr {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicLoad, unsafe.Pointer(addr), 8, 0, 0, false, pc, hdDepth(getcallerfp()))
	return uintptr(hdLoad8(unsafe.Pointer(addr), pc))
}

//go:linkname hd_StoreUintptr sync/atomic.StoreUintptr
//go:nosplit
func hd_StoreUintptr(addr *uintptr, val uintptr) {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicStore, unsafe.Pointer(addr), 8, uint64(uint64(val)), 0, false, pc, hdDepth(getcallerfp()))
	hdStore8(unsafe.Pointer(addr), uint64(val), pc)
}

//go:linkname hd_SwapUintptr sync/atomic.SwapUintptr
//go:nosplit
func hd_SwapUintptr(addr *uintptr, new uintptr) uintptr {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(new)), 0, false, pc, hdDepth(getcallerfp()))
	return uintptr(hdSwap8(unsafe.Pointer(addr), uint64(new), pc))
}

//go:linkname hd_CompareAndSwapUintptr sync/atomic.CompareAndSwapUintptr
//go:nosplit
func hd_CompareAndSwapUintptr(addr *uintptr, old, new uintptr) bool {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicCas, unsafe.Pointer(addr), 8, uint64(uint64(new)), uintptr(uint64(old)), false, pc, hdDepth(getcallerfp()))
	return hdCas8(unsafe.Pointer(addr), uint64(old), uint64(new), pc)
}

//go:linkname hd_AddUintptr sync/atomic.AddUintptr
//go:nosplit
func hd_AddUintptr(addr *uintptr, delta uintptr) uintptr {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(delta)), 0, true, pc, hdDepth(getcallerfp()))
	return uintptr(hdAdd8(unsafe.Pointer(addr), uint64(delta), pc))
}

//go:linkname hd_AndUintptr sync/atomic.AndUintptr
//go:nosplit
func hd_AndUintptr(addr *uintptr, mask uintptr) uintptr {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return uintptr(hdAnd8(unsafe.Pointer(addr), uint64(mask), pc))
}

//go:linkname hd_OrUintptr sync/atomic.OrUintptr
//go:nosplit
func hd_OrUintptr(addr *uintptr, mask uintptr) uintptr {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicRmw, unsafe.Pointer(addr), 8, uint64(uint64(mask)), 0, false, pc, hdDepth(getcallerfp()))
	return uintptr(hdOr8(unsafe.Pointer(addr), uint64(mask), pc))
}

//go:linkname hd_LoadPointer sync/atomic.LoadPointer
//go:nosplit
func hd_LoadPointer(addr *unsafe.Pointer) unsafe.Pointer {
	pc := sys.GetCallerPC()
	hdAtomic(hdOpAtomicLoad, unsafe.Pointer(addr), 8, 0, 0, false, pc, hdDepth(getcallerfp()))
	return unsafe.Pointer(uintptr(hdLoad8(unsafe.Pointer(addr), pc)))
}
