//go:build heddle

package runtime

import (
	"internal/goarch"
	"unsafe"
)

// Which functions are passed over on the way from a hook to the program's instruction.
const (
	hdSkipLibrary = 1 // synchronisation and time: runtime, sync, sync/atomic, time
	hdSkipOS      = 2 // also os and log
	hdSkipIO      = 3 // also internal packages, os, net, syscall
)

// hdPrefixes are those of the functions, by what passes over them.
var hdPrefixes = [...]struct {
	name string
	skip uint8
}{
	{"runtime.", hdSkipLibrary}, {"sync.", hdSkipLibrary}, {"internal/sync.", hdSkipLibrary},
	{"sync/atomic.", hdSkipLibrary}, {"internal/race.", hdSkipLibrary}, {"internal/runtime/", hdSkipLibrary},
	{"time.", hdSkipLibrary}, {"os.", hdSkipOS}, {"log.", hdSkipOS}, {"internal/", hdSkipIO}, {"net.", hdSkipIO},
	{"syscall.", hdSkipIO},
}

// hdClassSlots is a cache, by instruction, of which functions it belongs to.
const hdClassSlots = 1 << 13

var hdClasses [hdClassSlots]struct {
	pc    uintptr
	class uint8 // what passes over it; 0: nothing does
}

// hdClassOf is the least hdSkip constant that passes over the function around pc, 0 if it
// is the program's.
func hdClassOf(pc uintptr) uint8 {
	c := &hdClasses[(pc^pc>>13)%hdClassSlots]
	if c.pc == pc {
		return c.class
	}
	class := uint8(0)
	name := hdFuncName(pc)
	for i := range hdPrefixes {
		p := &hdPrefixes[i]
		if len(name) > len(p.name) && name[:len(p.name)] == p.name {
			class = p.skip
			break
		}
	}
	c.pc, c.class = pc, class
	return class
}

// hdFrame is the return address of the frame at fp, and the frame around it; 0 at the end.
func hdFrame(fp uintptr) (pc, next uintptr) {
	gp := getg().m.curg
	if gp == nil || fp < gp.stack.lo || fp >= gp.stack.hi-2*goarch.PtrSize {
		return 0, 0
	}
	return *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize)), *(*uintptr)(unsafe.Pointer(fp))
}

// hdWhere is the first instruction, from pc outwards, in a function that skip does not
// pass over; fp is the frame of the function around pc.
func hdWhere(pc, fp uintptr, skip uint8) uintptr {
	first := pc
	for range 40 {
		if c := hdClassOf(pc); c == 0 || c > skip {
			return pc
		}
		if fp == 0 {
			break
		}
		if pc, fp = hdFrame(fp); pc == 0 {
			break
		}
	}
	return first
}

// hdNested reports whether the function around pc, whose frame is fp, was called from one
// of the library's own.
func hdNested(fp uintptr) bool {
	pc, _ := hdFrame(fp)
	if pc == 0 {
		return false
	}
	name := hdFuncName(pc)
	return len(name) > 5 && name[:5] == "sync." || len(name) > 14 && name[:14] == "internal/sync."
}

// hdTestSite is the instruction that a test's failure is put down to: the innermost in a
// file of tests, or else the innermost outside of package testing.
func hdTestSite(pc, fp uintptr) uintptr {
	outside := uintptr(0)
	for range 60 {
		f := findfunc(pc)
		if !f.valid() {
			break
		}
		name := funcname(f)
		testing := len(name) > 8 && name[:8] == "testing." || len(name) > 8 && name[:8] == "runtime."
		if !testing {
			if outside == 0 {
				outside = pc
			}
			if file, _ := funcline1(f, pc-1, false); len(file) > 8 && file[len(file)-8:] == "_test.go" {
				return pc
			}
		}
		if pc, fp = hdFrame(fp); pc == 0 {
			break
		}
	}
	return outside
}

// hdPanicSite is the instruction that panicked first: the panics after it are those of
// deferred functions.
func hdPanicSite(pc, fp uintptr) uintptr {
	site, after := uintptr(0), false
	stack := hdPcs(pc, fp)
	from := 0
	for i, p := range stack {
		name := hdFuncName(p)
		switch {
		case name == "runtime.gopanic":
			after = true
		case after && hdClassOf(p) != hdSkipLibrary:
			site, from, after = p, i, false
		}
	}
	hdSendBacktrace(stack[from:])
	if site == 0 {
		return hdWhere(pc, fp, hdSkipLibrary)
	}
	return site
}

// hdPcBuf is where stacks are put together; there is one token, so one is enough.
var hdPcBuf [64]uintptr

// hdPcs is the stack from pc outwards, whose frame is fp.
func hdPcs(pc, fp uintptr) []uintptr {
	n := 0
	for pc != 0 && n < len(hdPcBuf) {
		hdPcBuf[n] = pc
		n++
		if fp == 0 {
			break
		}
		pc, fp = hdFrame(fp)
	}
	return hdPcBuf[:n]
}
