package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// freeHeap is how many bytes heddle allocates between two garbage collections at least. Most of a
// search needs only a few megabytes and would collect them hundreds of times a second.
const freeHeap = 32 << 20

// collectLess keeps the garbage collector to one collection per freeHeap bytes while heddle's heap is
// small. A larger heap is collected when it has doubled, as usual.
func collectLess() {
	const most = 100 * freeHeap / (4 << 20) // the runtime's smallest heap at 100 percent is 4 MB
	percent := most
	debug.SetGCPercent(percent)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var collected func(*[64]byte)
	collected = func(*[64]byte) {
		metrics.Read(live)
		now := most
		if n := live[0].Value.Uint64(); n > 0 {
			now = int(min(max(100*freeHeap/n, 100), most))
		}
		if now < percent || now > 2*percent {
			percent = now
			debug.SetGCPercent(percent)
		}
		runtime.SetFinalizer(new([64]byte), collected) // called after the next collection
	}
	runtime.SetFinalizer(new([64]byte), collected)
}
