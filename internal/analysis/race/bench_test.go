package race

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// workload is an execution of eight threads in intervals of some tens of events: most
// accesses are to a thread's own part of a heap and its stack, some to shared data under
// one of a few locks, a few race.
func workload(n int) []trace.Event {
	const threads = 8
	r := rand.New(rand.NewPCG(1, 1))
	var events []trace.Event
	for i := uint64(1); i < threads; i++ {
		events = append(events, trace.Event{Op: trace.OpThreadCreate, Value: i})
	}
	site := func(i int) trace.Site { return trace.MakeSite(0, uint64(0x1000+4*i)) }
	for len(events) < n {
		id := trace.ThreadID(r.IntN(threads))
		add := func(op trace.Op, s int, o trace.Object, size uint32) {
			events = append(events, trace.Event{Thread: id, Op: op, Site: site(s), Object: o, Size: size})
		}
		private := uint64(id) << 20
		at := uint64(r.IntN(1 << 14))
		for i := range uint64(5 + r.IntN(30)) {
			add(trace.OpRead, int(i%40), trace.MakeObject(trace.RegionHeap, 0, private+8*(at+i)), 8)
			add(trace.OpWrite, 40+int(i%40), trace.MakeObject(trace.RegionStack, int(id), 8*(i%20)), 4)
		}
		l := r.IntN(4)
		add(trace.OpMutexLock, 100+l, trace.MakeObject(trace.RegionGlobal, 0, uint64(64*l)), 0)
		for i := range uint64(4) {
			add(trace.OpRead, 110+int(i), trace.MakeObject(trace.RegionGlobal, 0, uint64(4096*l)+8*i), 8)
			add(trace.OpWrite, 120+int(i), trace.MakeObject(trace.RegionGlobal, 0, uint64(4096*l)+8*i), 8)
		}
		add(trace.OpMutexUnlock, 105+l, trace.MakeObject(trace.RegionGlobal, 0, uint64(64*l)), 0)
		add(trace.OpRead, 130, trace.MakeObject(trace.RegionGlobal, 0, 1<<20), 4)
		if r.IntN(16) == 0 {
			add(trace.OpWrite, 131, trace.MakeObject(trace.RegionGlobal, 0, 1<<20), 4)
			add(trace.OpWriteRange, 132, trace.MakeObject(trace.RegionHeap, 0, private), 4096)
		}
	}
	return events
}

func BenchmarkDetector(b *testing.B) {
	events := workload(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		d := New()
		for i := range events {
			d.Event(&events[i])
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(events))/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
