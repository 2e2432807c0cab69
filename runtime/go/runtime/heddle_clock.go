//go:build heddle

// Virtual time and random numbers.
package runtime

import (
	"internal/stringslite"
	_ "unsafe" // for go:linkname
)

// hdWall is the wall clock at virtual time 0, in Unix seconds. Any value would do; it must be the
// same in every process.
const hdWall = 1767225600 // 2026-01-01T00:00:00Z

// hdNanotime returns the time that timers and deadlines use. During an execution only the schedule
// advances it; between executions it advances in real time.
func hdNanotime() int64 {
	switch {
	case hd.active:
		return hd.vnow
	case hd.on:
		return hd.vbase + nanotime() - hd.vreal
	}
	return nanotime()
}

// hdOldTimers is called when an execution begins. Timers that were set before, as by the initialisation of a package, were set
// in real time, and fire in every execution at the same virtual time all the same: a ticker's first tick is due at
// the beginning, and what is due later is due after whole minutes.
func hdOldTimers() {
	const minute = 60e9
	ts := &getg().m.p.ptr().timers
	ts.lock()
	ts.adjust(0, true)
	for i := range ts.heap {
		tw := &ts.heap[i]
		t := tw.timer
		t.lock()
		if t.state&(timerModified|timerZombie) == 0 {
			if t.when > hd.vnow {
				t.when = hd.vnow + (t.when-hd.vnow)/minute*minute
			} else if t.period > 0 {
				t.when = hd.vnow
			}
			tw.when = t.when
		}
		t.unlock()
	}
	ts.initHeap()
	ts.updateMinWhenHeap()
	ts.unlock()
}

// hdTimeNow returns the time as time.now does.
func hdTimeNow() (sec int64, nsec int32, mono int64) {
	mono = hdLook()
	return hdWall + mono/1e9, int32(mono % 1e9), mono
}

// What a program gets that reaches the runtime's clock and random numbers by go:linkname (relink.go names them).

//go:linkname hdProgramNow
func hdProgramNow() (sec int64, nsec int32, mono int64) {
	if hd.on {
		return hdTimeNow()
	}
	return time_now()
}

//go:linkname hdProgramWalltime
func hdProgramWalltime() (sec int64, nsec int32) {
	sec, nsec, _ = hdProgramNow()
	return sec, nsec
}

//go:linkname hdProgramNanotime
func hdProgramNanotime() int64 {
	if hd.on {
		return hdLook()
	}
	return nanotime()
}

//go:linkname hdProgramCheaprand
func hdProgramCheaprand() uint32 {
	hd.drew = true
	return hdCheapRand()
}

//go:linkname hdProgramCheaprandn
func hdProgramCheaprandn(n uint32) uint32 {
	return uint32(uint64(hdProgramCheaprand()) * uint64(n) >> 32)
}

// hdRand returns a random number of the goroutine's own stream, or between executions of a common
// one. Go's own random numbers depend on the kernel thread that calls.
//
//go:nosplit
func hdRand() (uint64, bool) { return hdRandOf(false) }

// hdRandOf is hdRand, or with own returns a number of the stream that is the same under every seed.
//
//go:nosplit
func hdRandOf(own bool) (uint64, bool) {
	gp := getg()
	if !hd.on || gp != gp.m.curg {
		return 0, false
	}
	stream := &hd.between
	if hd.active {
		t := gp.hd
		if t == nil || t.goid != gp.goid {
			return 0, false
		}
		stream = &t.random
		if own {
			stream = &t.own
		}
	}
	*stream += 0x9e3779b97f4a7c15
	z := *stream
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31, true
}

// hdComparable is the bit of a plan's seed (schedule.Comparable) that marks an execution that is meant to be
// compared with others. In it the library's own random numbers do not depend on the rest of the seed,
// and a Pool drops nothing.
const hdComparable = 1 << 63

// hdSeed returns the plan's seed without that bit.
func hdSeed(p *hdPlan) uint64 { return p.Seed &^ hdComparable }

// hdCompared reports whether the execution is meant to be compared with others.
//
//go:nosplit
func hdCompared() bool { return hd.active && hd.plan.Seed&hdComparable != 0 }

// hdDraw is hdRand for runtime.rand, its caller.
//
//go:nosplit
func hdDraw() (uint64, bool) {
	gp := getg()
	if !hd.on || gp != gp.m.curg {
		return 0, false
	}
	compared, notes := hdCompared(), hd.active && hd.record && !hd.drew
	if !compared && !notes {
		return hdRandOf(false)
	}
	fp := hdDepth(getcallerfp())
	drawn := hdDrawnNever
	systemstack(func() { drawn = hdDrawn(fp) })
	x, ok := hdRandOf(compared && drawn != hdDrawnByProgram)
	if ok && notes {
		hd.drew = drawn != hdDrawnNever
	}
	return x, ok
}

// Whether the program's outcome may depend on a random number.
const (
	hdDrawnNever     = iota // a hash seed that only changes iteration order, or whether a Pool drops a value
	hdDrawnByLibrary        // the hash seed of a sync.Map, which decides the order of Range
	hdDrawnByProgram
)

// hdDrawers are the functions that draw random numbers on the program's behalf.
var hdDrawers = [...]string{
	"internal/sync.", "internal/runtime/maps.(*Iter).", "math/rand.", "math/rand/v2.", "hash/maphash.", "os.", "runtime.legacy_",
}

// hdDrawn says on whose behalf runtime.rand returns a number; runtime.rand's frame is at depth fp.
func hdDrawn(fp uintptr) int {
	for range 2 {
		var pc uintptr
		pc, fp = hdFrame(fp)
		name := hdFuncName(pc)
		for i, prefix := range hdDrawers {
			if stringslite.HasPrefix(name, prefix) {
				return hdDrawnByLibrary + min(i, 1)
			}
		}
		if name != "internal/runtime/maps.rand" {
			return hdDrawnNever
		}
	}
	return hdDrawnNever
}

// hdPoolRandn is randn for sync.Pool, which drops a value that it is given if the number is 0, as the race
// detector's build does.
//
//go:linkname hdPoolRandn
func hdPoolRandn(n uint32) uint32 {
	if hdCompared() {
		return 1
	}
	return randn(n)
}

// hdCheapRand returns a number that decides the order of timers due at the same time.
func hdCheapRand() uint32 {
	if x, ok := hdRand(); ok {
		return uint32(x)
	}
	return cheaprand()
}

// hdFill fills b as if from the system's random source. It returns false outside executions.
//
//go:linkname hdFill
func hdFill(b []byte) bool {
	if !hd.on {
		return false
	}
	hd.drew = true
	for i := 0; i < len(b); i += 8 {
		x, ok := hdRand()
		if !ok {
			x = rand()
		}
		for j := i; j < i+8 && j < len(b); j++ {
			b[j] = byte(x)
			x >>= 8
		}
	}
	return true
}

// hdStartupRand makes the initial random state the same in every process.
func hdStartupRand() {
	for i := range startupRand {
		startupRand[i] = byte(i*37 + 11)
	}
}

// hdProcs implements GOMAXPROCS, whose real value is 1.
func hdProcs(n int) (int, bool) {
	if !hd.on {
		return 0, false
	}
	old := int(hd.procs)
	if n > 0 {
		hd.procs = int32(n)
	}
	return old, true
}
