package patch

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
)

// edits are heddle's insertions into Go's sources; the functions they call are in runtime/go.
var edits = slices.Concat([]edit{
	// A goroutine's identity, and the start of the program.
	{"runtime/runtime2.go", "g", field, "", "hd *hdThread"},
	{"runtime/proc.go", "schedinit", end, "", "hdAttach()"},
	{"runtime/proc.go", "main", before, "lockOSThread()", "hdSpares()"},
	{"runtime/proc.go", "main", before, "fn()", "hdMainBegin()"},
	{"runtime/proc.go", "main", after, "fn()", "hdMainEnd()"},
	{"runtime/proc.go", "os_beforeExit", entry, "", "hdExit(exitCode)"},

	// Goroutines start and end.
	{"runtime/proc.go", "newproc", entry, "", "hdGo(fn)"},
	{"runtime/proc.go", "newproc1", last, "return newg", "hdBorn(newg, callergp)"},
	{"runtime/proc.go", "goexit1", before, "racegoend()", "hdEnds()"}, // after the release for its synctest bubble
	{"runtime/proc.go", "gdestroy", entry, "", "hdDied(gp)"},

	// Runnable goroutines, and which of them runs.
	{"runtime/proc.go", "runqput", entry, "", "if hdTake(gp) { return }"},
	{"runtime/proc.go", "globrunqput", entry, "", "if hdTake(gp) { return }"},
	{"runtime/proc.go", "injectglist", entry, "", "hdTakeList(glist)"},
	{"runtime/proc.go", "park_m", last, "schedule()", "hdParked(gp)"},
	{"runtime/proc.go", "findRunnable", before, "if netpollinited() && netpollAnyWaiters() && sched.lastpoll", "if gp, again := hdFind(); gp != nil { return gp, false, false } else if again { goto top }"},
	{"runtime/proc.go", "Gosched", entry, "", "if hdYield() { return }"},
	{"runtime/debug.go", "NumGoroutine", entry, "", "hdNumGoroutine()"},
	{"runtime/proc.go", "goyield", entry, "", "if hdYield() { return }"},
	{"runtime/coro.go", "coroswitch_m", last, "gogo(&gnext.sched)", "hdCoro(gnext)"},

	// System calls: another goroutine must run during one, and a goroutine that returns late waits
	// to be scheduled.
	{"runtime/proc.go", "handoffp", entry, "", "if hd.active { startm(pp, false, false); return }"},
	{"runtime/proc.go", "entersyscallblock", entry, "", "hdBlocks()"},
	{"runtime/proc.go", "syscall_runtime_BeforeFork", entry, "", "hdForks()"},
	{"runtime/proc.go", "schedEnabled", entry, "", "if hdHeld(gp) { return false }"},

	// Types of objects on the heap.
	{"runtime/malloc.go", "mallocgc", last, "return x", "if hd.record { hdMade(x, size, typ) }"},
	{"runtime/slice.go", "growslice", last, "return slice{p, newLen, newcap}", "if hd.record { hdMadeOf(p, et, false) }"},
	{"runtime/chan.go", "makechan", last, "return c", "if hd.record { hdMadeOf(unsafe.Pointer(c), &t.Type, true) }"},

	// Operations.
	{"runtime/chan.go", "chansend", entry, "", "hdChan(hdOpChanSend, c, block)"},
	{"runtime/chan.go", "chanrecv", entry, "", "hdChan(hdOpChanRecv, c, block)"},
	{"runtime/chan.go", "closechan", entry, "", "hdPoint(hdOpChanClose, uintptr(unsafe.Pointer(c)), 0, 0)"},
	{"runtime/select.go", "selectgo", entry, "", "hdSelect(cas0, nsends, nrecvs, block)"},
	{"runtime/select.go", "selectgo", before, "pollorder = pollorder[:norder]", "hdPollOrder(pollorder[:norder])"},
	{"runtime/select.go", "selectgo", before, "return casi, recvOK", "hdSelected(casi, pcs)"},
	{"runtime/time.go", "timeSleep", entry, "", "hdPoint(hdOpGsleep, 0, 0, uint64(ns))"},
	{"runtime/time.go", "newTimer", entry, "", "hdPoint(hdOpTimerReset, 0, 0, uint64(when))"},
	{"runtime/time.go", "stopTimer", entry, "", "hdPoint(hdOpTimerStop, uintptr(unsafe.Pointer(t)), 0, 0)"},
	{"runtime/time.go", "resetTimer", entry, "", "hdPoint(hdOpTimerReset, uintptr(unsafe.Pointer(t)), 0, uint64(when))"},
	{"sync/mutex.go", "(*Mutex).Lock", entry, "", point(abi.OpGmutexLock, "m")},
	{"sync/mutex.go", "(*Mutex).TryLock", entry, "", point(abi.OpGmutexTrylock, "m")},
	{"sync/mutex.go", "(*Mutex).Unlock", entry, "", point(abi.OpGmutexUnlock, "m")},
	{"sync/rwmutex.go", "(*RWMutex).RLock", entry, "", point(abi.OpRwRlock, "rw")},
	{"sync/rwmutex.go", "(*RWMutex).TryRLock", entry, "", point(abi.OpRwTryrlock, "rw")},
	{"sync/rwmutex.go", "(*RWMutex).RUnlock", entry, "", point(abi.OpRwRunlock, "rw")},
	{"sync/rwmutex.go", "(*RWMutex).Lock", entry, "", point(abi.OpRwLock, "rw")},
	{"sync/rwmutex.go", "(*RWMutex).TryLock", entry, "", point(abi.OpRwTrylock, "rw")},
	{"sync/rwmutex.go", "(*RWMutex).Unlock", entry, "", point(abi.OpRwUnlock, "rw")},
	{"sync/waitgroup.go", "(*WaitGroup).Add", entry, "", pointWith(abi.OpWgAdd, "wg", "int64(delta)")},
	{"sync/waitgroup.go", "(*WaitGroup).Done", entry, "", pointWith(abi.OpWgAdd, "wg", "-1")},
	{"sync/waitgroup.go", "(*WaitGroup).Wait", entry, "", point(abi.OpWgWait, "wg")},
	{"sync/cond.go", "(*Cond).Wait", entry, "", point(abi.OpGcondWait, "c")},
	{"sync/cond.go", "(*Cond).Signal", entry, "", point(abi.OpGcondSignal, "c")},
	{"sync/cond.go", "(*Cond).Broadcast", entry, "", point(abi.OpGcondBroadcast, "c")},
	// Signal and Broadcast are synchronised before the return of each wait that they end, which Go's race detector does not know.
	{"runtime/sema.go", "notifyListNotifyOne", before, "readyWithTime(s, 4)", "hdNotified(l, s.g)"},
	{"runtime/sema.go", "notifyListNotifyAll", before, "readyWithTime(s, 4)", "hdNotified(l, s.g)"},
	{"runtime/sema.go", "notifyListNotifyOne", after, "atomic.Store(&l.notify, t+1)", "racereleasemerge(unsafe.Pointer(&l.notify))"},
	{"runtime/sema.go", "notifyListNotifyAll", after, "atomic.Store(&l.notify, l.wait.Load())", "racereleasemerge(unsafe.Pointer(&l.notify))"},
	{"runtime/sema.go", "notifyListWait", before, "if less(t, l.notify)", "if less(t, l.notify) { raceacquire(unsafe.Pointer(&l.notify)) }"},
	{"sync/once.go", "(*Once).Do", entry, "", point(abi.OpOnceDo, "o")},
	{"sync/pool.go", "(*Pool).Get", entry, "", point(abi.OpPoolGet, "p")},
	{"sync/pool.go", "(*Pool).Put", entry, "", point(abi.OpPoolPut, "p")},
	{mapFile, "(*Map).Load", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).Store", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).Clear", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).LoadOrStore", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).LoadAndDelete", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).Delete", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).Swap", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).CompareAndSwap", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).CompareAndDelete", entry, "", point(abi.OpSyncMap, "m")},
	{mapFile, "(*Map).Range", entry, "", point(abi.OpSyncMap, "m")},

	{"runtime/atomic_pointer.go", "sync_atomic_StorePointer", entry, "", "hdAtomicPointer(hdOpAtomicStore, ptr, nil, new)"},
	{"runtime/atomic_pointer.go", "sync_atomic_SwapPointer", entry, "", "hdAtomicPointer(hdOpAtomicRmw, ptr, nil, new)"},
	{"runtime/atomic_pointer.go", "sync_atomic_CompareAndSwapPointer", entry, "", "hdAtomicPointer(hdOpAtomicCas, ptr, old, new)"},

	// Time and randomness.
	{"runtime/time.go", "time_runtimeNow", before, "return time_now()", "if hd.on { return hdTimeNow() }"},
	{"runtime/time.go", "time_runtimeNano", last, "return nanotime()", "if hd.on { return hdLook() }"},
	{"runtime/time.go", "", calls, "nanotime", "hdNanotime"},
	{"runtime/time.go", "(*timers).check", before, "if now == 0 {", "if hd.active && ts == &getg().m.p.ptr().timers { now = hd.vfire }"},
	{"runtime/netpoll.go", "", calls, "nanotime", "hdNanotime"},
	{"runtime/sema.go", "", calls, "nanotime", "hdNanotime"},
	{"runtime/rand.go", "randinit", entry, "", "hdStartupRand()"},
	{"runtime/rand.go", "rand", entry, "", "if x, ok := hdDraw(); ok { return x }"},
	{"crypto/internal/sysrand/rand.go", "Read", entry, "", "if heddleFill(b) { return }"},
	{"crypto/internal/fips140/drbg/rand.go", "Read", before, "if !fips140.Enabled", "if sysrand.HeddleFill(b) { return }"},
	// A ticker that fires late skips the ticks it has missed, measured by the current virtual time.
	{"runtime/time.go", "(*timer).unlockAndRun", entry, "", "if hd.active { now = max(now, hd.vnow) }"},
	{"runtime/time.go", "", someCalls, "cheaprand", "hdCheapRand"},
	{"syscall/syscall_unix.go", "Bind", entry, "", "if heddleBind(fd, sa) { return nil }"},
	{"runtime/debug.go", "GOMAXPROCS", entry, "", "if old, ok := hdProcs(n); ok { return old }"},
	{"runtime/mgcscavenge.go", "(*scavengerState).wake", entry, "", "if hd.on { return }"},

	// The collector: stack maps are wrong where the compiler calls the hooks for accesses.
	{"runtime/mgcmark.go", "scanframeworker", after, "isDebugCall :=", "isDebugCall = isDebugCall || hdInstrumented(frame.fn)"},

	{"runtime/mgc.go", "(gcTrigger).test", before, "switch t.kind", "if hd.active && t.kind == gcTriggerHeap { return hdCollects() }"},
	{"runtime/mgc.go", "gcStart", after, "mode := gcBackgroundMode", "hdCollecting()"},
	{"runtime/mgc.go", "", calls, "Gosched", "hdGosched"},
	{"runtime/mgcmark.go", "", calls, "Gosched", "hdGosched"},
	{"sync/pool.go", "poolRaceAddr", entry, "", "if a := heddlePool((*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1]); a != nil { return a }"},
	{"sync/pool.go", "", calls, "runtime_randn", "heddleRandn"},
	// Memory.
	{"runtime/mcentral.go", "(*mcentral).cacheSpan", entry, "", "hdRetire(c)"},
	{"runtime/mpagealloc.go", "(*pageAlloc).free", entry, "", "if hdKept(base) { return }"},
	{"runtime/proc.go", "main", before, "lockOSThread()", "hdEarlyHeap()"},
	// The machine.
	{"runtime/debug.go", "NumCPU", entry, "", "if hd.on { return hdCpus }"},

	// Outcomes.
	{"runtime/signal_unix.go", "sighandler", before, "if sig == _SIGPROF {", "if hdQuit(sig, gp, uintptr(c.sigpc()), uintptr(c.sigaddr())) { return }"},
	{"runtime/panic.go", "fatalpanic", entry, "", "hdPanicked()"},
	{"runtime/panic.go", "fatal", entry, "", "hdFatal(s, true)"},
	{"runtime/panic.go", "throw", entry, "", "hdFatal(s, false)"},
	{"testing/testing.go", "tRunner", before, "fn(t)", "heddleBegin(t.level, fn)"},
	{"testing/testing.go", "tRunner", before, "t.signal <- signal", "heddleEnd(&t.common, t.isParallel)"},
	// What exists only because heddle repeats a test is not in the flags that the test reads.
	{"testing/testing.go", "runTests", entry, "", "count, parallel := heddleCount(), heddleParallel()"},
	{"testing/fuzz.go", "runFuzzTests", entry, "", "count, parallel := heddleCount(), heddleParallel()"},
	{"testing/testing.go", "(*M).startAlarm", entry, "", "if hdExploring() { return time.Time{} }"},
	{"testing/testing.go", "runTests", after, "t.Run(test.Name, test.F)", "for heddleRepeats(t, test.Name) { t.Run(test.Name, test.F) }"},
	// Go does not repeat tests of which none counts as run: those whose subtests all have other names than -run says.
	{"testing/testing.go", "runTests", before, "if i > 0 && !ran", "ran = ran || heddleBegun"},
	{"testing/match.go", "(*matcher).fullName", entry, "", "if heddleRepeated(c, subname) { return subname, true, false }"},
	{"testing/testing.go", "(*T).report", before, "dstr :=", "if !heddleReports(&t.common) { return }"},
	{"testing/fuzz.go", "fRunner", before, "fn(f)", "heddleBegin(f.level, fn)"},
	{"testing/fuzz.go", "fRunner", before, "f.signal <- true", "heddleEnd(&f.common, true)"},
	{"testing/example.go", "runExamples", before, "if !runExample(eg)", "for heddleAgain(eg.F) { runExample(eg); hdTestEnd(false) }"},
	{"testing/example.go", "(*InternalExample).processRunResult", before, `if fail != "" || !finished`, `if fail != "" { hdTestFail(fail) }`},
	{"testing/testing.go", "(*M).writeProfiles", before, "coverReport()", "heddleCover()"},
	{"testing/testing.go", "(*common).Error", entry, "", "heddleError(args)"},
	{"testing/testing.go", "(*common).Errorf", entry, "", "heddleErrorf(format, args)"},
	{"testing/testing.go", "(*common).Fatal", entry, "", "heddleError(args)"},
	{"testing/testing.go", "(*common).Fatalf", entry, "", "heddleErrorf(format, args)"},
	{"testing/testing.go", "(*common).Fail", before, "c.failed = true", `hdTestFail("the test called Fail or FailNow")`},
}, mapWrites())

// mapWrites are the functions that write maps. A release has each in the first of its files that
// exists. Their statements that end a write match too, and then the map is not being written.
func mapWrites() (edits []edit) {
	add := func(file, fn string) {
		edits = append(edits, edit{"internal/runtime/maps/" + file, fn, after, "m.writing ^= 1", "if m.writing != 0 { heddleWriting(unsafe.Pointer(m)) }"})
	}
	swiss := func(name string) string { return name + "_swiss.go|internal/runtime/maps/" + name + ".go" }
	for _, fn := range []string{"PutSlot", "Delete", "Clear"} {
		add("map.go", "(*Map)."+fn)
	}
	add(swiss("runtime"), "runtime_mapassign")
	for _, size := range []string{"32", "64"} {
		add(swiss("runtime_fast"+size), "runtime_mapassign_fast"+size)
		add(swiss("runtime_fast"+size), "runtime_mapassign_fast"+size+"ptr")
	}
	add(swiss("runtime_faststr"), "runtime_mapassign_faststr")
	return edits
}

// mapFile is the file of sync.Map: the first of these that exists.
const mapFile = "sync/hashtriemap.go|sync/map.go"

// point is a scheduling point in package sync before operation op on the receiver.
func point(op int, receiver string) string { return pointWith(op, receiver, "0") }

func pointWith(op int, receiver, value string) string {
	return fmt.Sprintf("heddlePoint(%d, unsafe.Pointer(%s), %s)", op, receiver, value)
}

// imports are packages that edited files need and may not import yet.
var imports = map[string]string{
	"sync/mutex.go": "unsafe", "sync/rwmutex.go": "unsafe", "sync/waitgroup.go": "unsafe", "sync/cond.go": "unsafe",
	"sync/once.go": "unsafe", "sync/pool.go": "unsafe", "sync/hashtriemap.go": "unsafe", "sync/map.go": "unsafe",
	"runtime/chan.go": "unsafe", "runtime/select.go": "unsafe", "runtime/time.go": "unsafe",
}

// sanitizerEdits are additional edits for the build with Go's race detector: heddle's Go code
// replaces the detector's assembly.
var sanitizerEdits = slices.Concat([]edit{
	{"runtime/race.go", "racereadrangepc", entry, "", "hdAccessPC(hdOpReadRange, addr, sz, callpc); if hdMute() { return }"},
	{"runtime/race.go", "racewriterangepc", entry, "", "hdAccessPC(hdOpWriteRange, addr, sz, callpc); if hdMute() { return }"},
	{"runtime/race.go", "racemalloc", entry, "", "hdAllocated(p, sz)"},
	{"runtime/race.go", "RaceErrors", entry, "", "if hd.on { return 0 }"}, // or the test would fail, and end, there
}, without("runtime/race.go", gone, ""), without("runtime/race_amd64.s", text, "runtime·"), without("runtime/race_arm64.s", text, "runtime·"),
	[]edit{
		{"runtime/race_amd64.s", "sync∕atomic·*", text, "", ""},
		{"runtime/race_arm64.s", "sync∕atomic·*", text, "", ""},
	})

// replaced are the functions of the race detector's assembly that heddle implements in Go, besides
// those of sync/atomic.
var replaced = []string{
	"raceread", "racewrite", "racereadrange", "racewriterange", "racereadpc", "racewritepc",
	"RaceRead", "RaceWrite", "RaceReadRange", "RaceWriteRange",
}

// without removes the replaced functions from a file.
func without(file string, at place, prefix string) (edits []edit) {
	for _, name := range replaced {
		edits = append(edits, edit{file, prefix + name, at, "", ""})
	}
	return edits
}

// added are heddle's own files: directory in runtime/go, and destination package. A build has
// either plain or sanitizer.
var added = map[string]string{
	"runtime": "runtime", "plain": "runtime", "sanitizer": "runtime",
	"maps": "internal/runtime/maps", "sync": "sync", "testing": "testing", "sysrand": "crypto/internal/sysrand", "syscall": "syscall",
}

// removed are files that heddle's replace in a build without the race detector.
var removed = []string{"runtime/race.go", "runtime/race_amd64.s", "runtime/race_arm64.s"}
