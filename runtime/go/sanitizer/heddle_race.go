//go:build heddle

// Passes accesses and atomic operations to Go's own race detector. Go's runtime/race.go stays and
// passes the rest; this file replaces the functions of its assembly that would pass these. The race
// detector receives them after the scheduling point, with the same places in the program as from
// the assembly.
package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

//go:linkname __tsan_read __tsan_read
var __tsan_read byte

//go:linkname __tsan_read_pc __tsan_read_pc
var __tsan_read_pc byte

//go:linkname __tsan_read_range __tsan_read_range
var __tsan_read_range byte

//go:linkname __tsan_write __tsan_write
var __tsan_write byte

//go:linkname __tsan_write_pc __tsan_write_pc
var __tsan_write_pc byte

//go:linkname __tsan_write_range __tsan_write_range
var __tsan_write_range byte

//go:linkname __tsan_go_atomic32_load __tsan_go_atomic32_load
var __tsan_go_atomic32_load byte

//go:linkname __tsan_go_atomic32_store __tsan_go_atomic32_store
var __tsan_go_atomic32_store byte

//go:linkname __tsan_go_atomic32_exchange __tsan_go_atomic32_exchange
var __tsan_go_atomic32_exchange byte

//go:linkname __tsan_go_atomic32_compare_exchange __tsan_go_atomic32_compare_exchange
var __tsan_go_atomic32_compare_exchange byte

//go:linkname __tsan_go_atomic32_fetch_add __tsan_go_atomic32_fetch_add
var __tsan_go_atomic32_fetch_add byte

//go:linkname __tsan_go_atomic32_fetch_and __tsan_go_atomic32_fetch_and
var __tsan_go_atomic32_fetch_and byte

//go:linkname __tsan_go_atomic32_fetch_or __tsan_go_atomic32_fetch_or
var __tsan_go_atomic32_fetch_or byte

//go:linkname __tsan_go_atomic64_load __tsan_go_atomic64_load
var __tsan_go_atomic64_load byte

//go:linkname __tsan_go_atomic64_store __tsan_go_atomic64_store
var __tsan_go_atomic64_store byte

//go:linkname __tsan_go_atomic64_exchange __tsan_go_atomic64_exchange
var __tsan_go_atomic64_exchange byte

//go:linkname __tsan_go_atomic64_compare_exchange __tsan_go_atomic64_compare_exchange
var __tsan_go_atomic64_compare_exchange byte

//go:linkname __tsan_go_atomic64_fetch_add __tsan_go_atomic64_fetch_add
var __tsan_go_atomic64_fetch_add byte

//go:linkname __tsan_go_atomic64_fetch_and __tsan_go_atomic64_fetch_and
var __tsan_go_atomic64_fetch_and byte

//go:linkname __tsan_go_atomic64_fetch_or __tsan_go_atomic64_fetch_or
var __tsan_go_atomic64_fetch_or byte

// hdMute reports whether accesses are kept from the race detector, which they are during the
// warm-up. The detector would report a race there and, since it reports each only once, not again.
//
//go:nosplit
func hdMute() bool { return hd.warm && hd.active }

// hdTell passes an access to the race detector.
//
//go:nosplit
func hdTell(fn *byte, addr, a, b uintptr) {
	if hdMute() || !isvalidaddr(unsafe.Pointer(addr)) {
		return
	}
	racecall(fn, getg().racectx, addr, a, b)
}

//go:nosplit
func hdTellRead(addr, pc uintptr) { hdTell(&__tsan_read, addr, pc, 0) }

//go:nosplit
func hdTellWrite(addr, pc uintptr) { hdTell(&__tsan_write, addr, pc, 0) }

//go:nosplit
func hdTellReadRange(addr, size, pc uintptr) { hdTell(&__tsan_read_range, addr, size, pc) }

//go:nosplit
func hdTellWriteRange(addr, size, pc uintptr) { hdTell(&__tsan_write_range, addr, size, pc) }

// hdTellReadFor passes on a read that a function of the runtime, which begins at pc, makes for an
// instruction that returns to callpc. The race detector expects return addresses.
//
//go:nosplit
func hdTellReadFor(addr, callpc, pc uintptr) { hdTell(&__tsan_read_pc, addr, callpc, pc+1) }

//go:nosplit
func hdTellWriteFor(addr, callpc, pc uintptr) { hdTell(&__tsan_write_pc, addr, callpc, pc+1) }

// hdArgs is an atomic operation in the race detector's layout, a C structure of the address, the
// operands and the result.
type hdArgs [4]uint64

// hdDo makes the race detector perform an atomic operation, for the instruction that returns to
// callpc; pc is in the function of package sync/atomic.
//
//go:nosplit
func hdDo(fn *byte, a *hdArgs, callpc, pc uintptr) {
	addr := unsafe.Pointer(uintptr(a[0]))
	_ = *(*byte)(addr) // a bad address must fault here, not in C
	ctx := getg().racectx
	if isvalidaddr(addr) {
		racecall(fn, ctx, callpc, pc, uintptr(unsafe.Pointer(a)))
		return
	}
	racecall(&__tsan_go_ignore_sync_begin, ctx, 0, 0, 0)
	racecall(fn, ctx, callpc, pc, uintptr(unsafe.Pointer(a)))
	racecall(&__tsan_go_ignore_sync_end, ctx, 0, 0, 0)
}

//go:nosplit
//go:noinline
func hdLoad4(addr unsafe.Pointer, callpc uintptr) uint32 {
	a := hdArgs{uint64(uintptr(addr))}
	hdDo(&__tsan_go_atomic32_load, &a, callpc, sys.GetCallerPC())
	return uint32(a[1])
}

//go:nosplit
//go:noinline
func hdStore4(addr unsafe.Pointer, v uint32, callpc uintptr) {
	a := hdArgs{uint64(uintptr(addr)), uint64(v)}
	hdDo(&__tsan_go_atomic32_store, &a, callpc, sys.GetCallerPC())
}

//go:nosplit
//go:noinline
func hdSwap4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	a := hdArgs{uint64(uintptr(addr)), uint64(v)}
	hdDo(&__tsan_go_atomic32_exchange, &a, callpc, sys.GetCallerPC())
	return uint32(a[2])
}

//go:nosplit
//go:noinline
func hdCas4(addr unsafe.Pointer, old, v uint32, callpc uintptr) bool {
	a := hdArgs{uint64(uintptr(addr)), uint64(old) | uint64(v)<<32}
	hdDo(&__tsan_go_atomic32_compare_exchange, &a, callpc, sys.GetCallerPC())
	return uint8(a[2]) != 0
}

//go:nosplit
//go:noinline
func hdAdd4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	a := hdArgs{uint64(uintptr(addr)), uint64(v)}
	hdDo(&__tsan_go_atomic32_fetch_add, &a, callpc, sys.GetCallerPC())
	return uint32(a[2]) + v
}

//go:nosplit
//go:noinline
func hdAnd4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	a := hdArgs{uint64(uintptr(addr)), uint64(v)}
	hdDo(&__tsan_go_atomic32_fetch_and, &a, callpc, sys.GetCallerPC())
	return uint32(a[2])
}

//go:nosplit
//go:noinline
func hdOr4(addr unsafe.Pointer, v uint32, callpc uintptr) uint32 {
	a := hdArgs{uint64(uintptr(addr)), uint64(v)}
	hdDo(&__tsan_go_atomic32_fetch_or, &a, callpc, sys.GetCallerPC())
	return uint32(a[2])
}

//go:nosplit
//go:noinline
func hdLoad8(addr unsafe.Pointer, callpc uintptr) uint64 {
	a := hdArgs{uint64(uintptr(addr))}
	hdDo(&__tsan_go_atomic64_load, &a, callpc, sys.GetCallerPC())
	return a[1]
}

//go:nosplit
//go:noinline
func hdStore8(addr unsafe.Pointer, v uint64, callpc uintptr) {
	a := hdArgs{uint64(uintptr(addr)), v}
	hdDo(&__tsan_go_atomic64_store, &a, callpc, sys.GetCallerPC())
}

//go:nosplit
//go:noinline
func hdSwap8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	a := hdArgs{uint64(uintptr(addr)), v}
	hdDo(&__tsan_go_atomic64_exchange, &a, callpc, sys.GetCallerPC())
	return a[2]
}

//go:nosplit
//go:noinline
func hdCas8(addr unsafe.Pointer, old, v uint64, callpc uintptr) bool {
	a := hdArgs{uint64(uintptr(addr)), old, v}
	hdDo(&__tsan_go_atomic64_compare_exchange, &a, callpc, sys.GetCallerPC())
	return uint8(a[3]) != 0
}

//go:nosplit
//go:noinline
func hdAdd8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	a := hdArgs{uint64(uintptr(addr)), v}
	hdDo(&__tsan_go_atomic64_fetch_add, &a, callpc, sys.GetCallerPC())
	return a[2] + v
}

//go:nosplit
//go:noinline
func hdAnd8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	a := hdArgs{uint64(uintptr(addr)), v}
	hdDo(&__tsan_go_atomic64_fetch_and, &a, callpc, sys.GetCallerPC())
	return a[2]
}

//go:nosplit
//go:noinline
func hdOr8(addr unsafe.Pointer, v uint64, callpc uintptr) uint64 {
	a := hdArgs{uint64(uintptr(addr)), v}
	hdDo(&__tsan_go_atomic64_fetch_or, &a, callpc, sys.GetCallerPC())
	return a[2]
}
