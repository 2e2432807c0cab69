//go:build heddle

package runtime

import (
	"internal/goarch"
	"internal/stringslite"
	"unsafe"
)

// Which functions are skipped on the way from a hook to the program's instruction.
const (
	hdSkipLibrary = 1 // synchronisation and time: runtime, sync, sync/atomic, time
	hdSkipOS      = 2 // also os and log
	hdSkipIO      = 3 // also internal packages, os, net, syscall
)

// hdPrefixes maps prefixes of function names to the least hdSkip constant that skips them.
var hdPrefixes = [...]struct {
	name string
	skip uint8
}{
	{"runtime.", hdSkipLibrary}, {"sync.", hdSkipLibrary}, {"internal/sync.", hdSkipLibrary},
	{"reflect.", hdSkipLibrary}, {"sync/atomic.", hdSkipLibrary}, {"internal/race.", hdSkipLibrary}, {"internal/runtime/", hdSkipLibrary},
	{"time.", hdSkipLibrary},
	// The position of a variable in the environment depends on the other variables.
	{"syscall.Getenv", hdSkipLibrary}, {"syscall.Environ", hdSkipLibrary}, {"syscall.Setenv", hdSkipLibrary},
	{"syscall.Unsetenv", hdSkipLibrary}, {"syscall.Clearenv", hdSkipLibrary},
	{"os.", hdSkipOS}, {"log.", hdSkipOS}, {"internal/", hdSkipIO}, {"net.", hdSkipIO},
	{"syscall.", hdSkipIO},
}

// hdClassSlots is the size of a cache from instructions to the class of their function.
const hdClassSlots = 1 << 13

var hdClasses [hdClassSlots]struct {
	pc    uintptr
	class uint8 // the least hdSkip constant that skips it; 0 if none does
	group uint8 // hdGroup constants
}

// Other properties of functions that hooks need, by name.
const (
	hdGroupSync    = 1 << iota // of package sync or internal/sync
	hdGroupMutex               // a method of sync.Mutex
	hdGroupAtomic              // of sync/atomic or runtime
	hdGroupSignals             // forwards signals
	hdGroupMapRead             // reads a map for an instruction of the program
	hdGroupReflect             // of package reflect, whose accesses are to the program's variables
)

// hdGroupOf returns the groups of the function around pc.
func hdGroupOf(pc uintptr) uint8 {
	hdClassOf(pc)
	return hdClasses[(pc^pc>>13)%hdClassSlots].group
}

func hdGroupNamed(name string) (group uint8) {
	inner := stringslite.HasPrefix(name, "internal/sync.")
	if inner || stringslite.HasPrefix(name, "sync.") {
		group = hdGroupSync
	}
	if inner {
		name = name[len("internal/"):]
	}
	switch {
	case stringslite.HasPrefix(name, "reflect."):
		group |= hdGroupReflect
	case stringslite.HasPrefix(name, "runtime.mapaccess"):
		group |= hdGroupAtomic | hdGroupMapRead
	case stringslite.HasPrefix(name, "sync.(*Mutex)."):
		group |= hdGroupMutex
	case stringslite.HasPrefix(name, "sync/atomic."), stringslite.HasPrefix(name, "runtime."):
		group |= hdGroupAtomic
	case name == "os/signal.loop":
		group |= hdGroupSignals
	}
	return group
}

// hdClassOf returns the least hdSkip constant that skips the function around pc, 0 if it is the
// program's.
func hdClassOf(pc uintptr) uint8 {
	c := &hdClasses[(pc^pc>>13)%hdClassSlots]
	if c.pc == pc {
		return c.class
	}
	class := uint8(0)
	name := hdFuncName(pc)
	for i := range hdPrefixes {
		p := &hdPrefixes[i]
		if stringslite.HasPrefix(name, p.name) {
			if p.name[len(p.name)-1] == '/' || hdWholePackage(name[len(p.name):]) {
				class = p.skip
			}
			break
		}
	}
	c.pc, c.class, c.group = pc, class, hdGroupNamed(name)
	return class
}

// hdFuncName returns the name of the function around pc, empty if none exists.
func hdFuncName(pc uintptr) string {
	f := findfunc(pc)
	if !f.valid() {
		return ""
	}
	return funcname(f)
}

// hdDepth returns a frame pointer of the running goroutine as a distance from the top of its stack,
// which stays valid when the stack moves. Frames are passed around in this form.
//
//go:nosplit
func hdDepth(fp uintptr) uintptr {
	gp := getg()
	if gp.m.curg != nil {
		gp = gp.m.curg
	}
	return gp.stack.hi - fp
}

// hdWholePackage reports whether rest, which follows a prefix, has no slash, so that the prefix was
// a whole package: a module may be called net.example.
func hdWholePackage(rest string) bool {
	for i := range len(rest) {
		switch rest[i] {
		case '/':
			return false
		case '(', '[':
			return true
		}
	}
	return true
}

// hdFrame returns the return address of the frame at depth d of the running goroutine, and the
// depth of the frame around it; 0 at the end.
func hdFrame(d uintptr) (pc, next uintptr) {
	return hdFrameOf(getg().m.curg, d)
}

func hdFrameOf(gp *g, d uintptr) (pc, next uintptr) {
	if gp == nil || d <= 2*goarch.PtrSize || d > gp.stack.hi-gp.stack.lo {
		return 0, 0
	}
	fp := gp.stack.hi - d
	next = gp.stack.hi - *(*uintptr)(unsafe.Pointer(fp))
	if next >= d { // frames lead outwards
		next = 0
	}
	return *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize)), next
}

// hdWhere returns the first instruction, from pc outwards, in a function that skip does not skip;
// fp is the frame of the function around pc.
func hdWhere(pc, fp uintptr, skip uint8) uintptr {
	return hdWhereOf(getg().m.curg, pc, fp, skip)
}

func hdWhereOf(gp *g, pc, fp uintptr, skip uint8) uintptr {
	first := pc
	for range 40 {
		if c := hdClassOf(pc); c == 0 || c > skip {
			return pc
		}
		if fp == 0 {
			break
		}
		if pc, fp = hdFrameOf(gp, fp); pc == 0 {
			break
		}
	}
	return first
}

// hdNested reports whether the function around pc, whose frame is fp, was called from one of the
// library's own.
func hdNested(fp uintptr) bool {
	pc, _ := hdFrame(fp)
	if pc == 0 {
		return false
	}
	return hdGroupOf(pc)&hdGroupSync != 0
}

// hdTestSite returns the instruction to which a test's failure is attributed: the innermost in a
// test file, or else the innermost outside package testing.
func hdTestSite(pc, fp uintptr) uintptr {
	outside := uintptr(0)
	for range 60 {
		f := findfunc(pc)
		if !f.valid() {
			break
		}
		name := funcname(f)
		if !stringslite.HasPrefix(name, "testing.") && !stringslite.HasPrefix(name, "runtime.") {
			if outside == 0 {
				outside = pc
			}
			if file, _ := funcline1(f, pc-1, false); stringslite.HasSuffix(file, "_test.go") {
				return pc
			}
		}
		if pc, fp = hdFrame(fp); pc == 0 {
			break
		}
	}
	return outside
}

// hdInRunner reports whether package testing itself makes the test fail.
func hdInRunner(pc, fp uintptr) bool {
	for range 6 {
		name := hdFuncName(pc)
		if !stringslite.HasPrefix(name, "testing.") {
			return false
		}
		if stringslite.Index(name, "tRunner") >= 0 {
			return true
		}
		if pc, fp = hdFrame(fp); pc == 0 {
			break
		}
	}
	return false
}

// hdPanicSite returns the instruction that panicked first: later panics are those of deferred
// functions.
func hdPanicSite(pc, fp uintptr) uintptr {
	site, after := uintptr(0), false
	stack := hdPcs(getg().m.curg, pc, fp)
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

// hdPcBuf is where stacks are assembled; there is one token, so one buffer is enough.
var hdPcBuf [64]uintptr

// hdPcs returns gp's stack from pc outwards; fp is the frame of the function around pc.
func hdPcs(gp *g, pc, fp uintptr) []uintptr {
	n := 0
	for pc != 0 && n < len(hdPcBuf) {
		hdPcBuf[n] = pc
		n++
		if fp == 0 {
			break
		}
		pc, fp = hdFrameOf(gp, fp)
	}
	return hdPcBuf[:n]
}
