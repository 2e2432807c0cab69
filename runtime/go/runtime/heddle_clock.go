//go:build heddle

// Virtual time, and chance.
package runtime

import (
	"internal/stringslite"
	_ "unsafe" // for go:linkname
)

// hdWall is the wall clock when virtual time is 0, in Unix seconds: any would do, but it
// must be the same in every process.
const hdWall = 1767225600 // 2026-01-01T00:00:00Z

// hdNanotime is the time that timers and deadlines go by. During an execution it stands
// still but for what the schedule makes of it; outside of one it passes.
func hdNanotime() int64 {
	switch {
	case hd.active:
		return hd.vnow
	case hd.on:
		return hd.vbase + nanotime() - hd.vreal
	}
	return nanotime()
}

// hdTimeNow is the time in the form of time.now.
func hdTimeNow() (sec int64, nsec int32, mono int64) {
	mono = hdLook()
	return hdWall + mono/1e9, int32(mono % 1e9), mono
}

// hdRand is a random number of the goroutine's own stream, or between executions of one
// for all: those of Go's runtime depend on which of the system's threads asks.
//
//go:nosplit
func hdRand() (uint64, bool) {
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
	}
	*stream += 0x9e3779b97f4a7c15
	z := *stream
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31, true
}

// hdDraw is hdRand for runtime.rand, which it is called from.
//
//go:nosplit
func hdDraw() (uint64, bool) {
	x, ok := hdRand()
	if ok && hd.active && hd.record && !hd.drew {
		fp := hdDepth(getcallerfp())
		systemstack(func() { hd.drew = hdDrawn(fp) })
	}
	return x, ok
}

// hdDrawers are the functions that draw random numbers on the program's behalf. Others draw
// hash seeds, which change the order of an iteration only, or make a Pool drop a value, as
// Go's race detector does.
var hdDrawers = [...]string{
	"internal/runtime/maps.(*Iter).", "math/rand.", "math/rand/v2.", "hash/maphash.", "internal/sync.", "os.", "runtime.legacy_",
}

// hdDrawn reports whether the outcome of the program may depend on the number that
// runtime.rand returns, whose frame is at depth fp.
func hdDrawn(fp uintptr) bool {
	for range 2 {
		var pc uintptr
		pc, fp = hdFrame(fp)
		name := hdFuncName(pc)
		for _, prefix := range hdDrawers {
			if stringslite.HasPrefix(name, prefix) {
				return true
			}
		}
		if name != "internal/runtime/maps.rand" {
			return false
		}
	}
	return false
}

// hdCheapRand is a number for timers, which decides between some that are due together.
func hdCheapRand() uint32 {
	if x, ok := hdRand(); ok {
		return uint32(x)
	}
	return cheaprand()
}

// hdFill fills b as if from the system's random source; false outside of executions.
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

// hdStartupRand makes what random state begins with the same in every process.
func hdStartupRand() {
	for i := range startupRand {
		startupRand[i] = byte(i*37 + 11)
	}
}

// hdProcs is GOMAXPROCS, which is 1 in truth.
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
