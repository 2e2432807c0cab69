package report

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestRacing: of the executions of an instruction, those that race are named: not the ones in order, nor those on other memory.
func TestRacing(t *testing.T) {
	own, shared, m := trace.MakeObject(trace.RegionStack, 1, 0x40), trace.MakeObject(trace.RegionStack, 0, 0x80), trace.MakeObject(trace.RegionGlobal, 0, 64)
	write := func(o trace.Object, v uint64) trace.Event {
		return trace.Event{Thread: 1, Op: trace.OpWrite, Site: 10, Object: o, Size: 8, Value: v, Flags: trace.FlagNoDecision}
	}
	lock := func(by trace.ThreadID, op trace.Op) trace.Event {
		return trace.Event{Thread: by, Op: op, Site: 20, Object: m}
	}
	tr := &trace.Trace{
		Stacks: [][]trace.Site{nil}, Threads: []trace.Thread{{ID: 0}, {ID: 1}},
		Events: []trace.Event{
			{Op: trace.OpThreadCreate, Site: 1, Value: 1},
			{Thread: 1, Op: trace.OpThreadStart, Site: 2},
			write(own, 7),
			lock(1, trace.OpMutexLock), write(shared, 1), lock(1, trace.OpMutexUnlock),
			write(shared, 2),
			lock(0, trace.OpMutexLock),
			{Op: trace.OpRead, Site: 11, Object: shared, Size: 8, Flags: trace.FlagNoDecision},
			lock(0, trace.OpMutexUnlock),
		},
	}
	tr.Ending = trace.Ending{Kind: trace.Race, Accesses: []trace.Access{
		{Thread: 1, Op: trace.OpWrite, Site: 10, Object: shared, Size: 8},
		{Thread: 0, Op: trace.OpRead, Site: 11, Object: shared, Size: 8},
	}}
	if got := racing(tr); got != [2]int{6, 8} {
		t.Errorf("racing accesses are events %v, want 6 and 8", got)
	}
	tr.Events = tr.Events[:7] // as if the read were not recorded
	if got := racing(tr); got[0] < 0 || got[1] != -1 {
		t.Errorf("racing accesses are events %v", got)
	}
}
