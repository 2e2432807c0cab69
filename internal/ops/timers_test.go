package ops

import (
	"maps"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A timer of Go is known by what its start releases and its firing acquires; what ends a sleep, in which nothing has been started, is left out.
func TestTimers(t *testing.T) {
	const timer, other, sleeps = trace.Object(0x2000000001000000), trace.Object(0x2000000002000000), trace.Object(0x2000000003000000)
	const clock = 2
	tr := &trace.Trace{Header: trace.Header{Target: "go"}, Events: []trace.Event{
		{Op: trace.OpTimerReset, Site: 1},
		{Op: trace.OpRelease, Site: 1, Object: timer + 16, Flags: trace.FlagNoDecision},
		{Op: trace.OpTimerReset, Site: 2, Thread: 1},
		{Op: trace.OpRelease, Site: 2, Thread: 1, Object: other + 16, Flags: trace.FlagNoDecision},
		{Op: trace.OpTimerFire, Thread: clock}, // 4
		{Op: trace.OpAcquire, Thread: clock, Object: sleeps, Flags: trace.FlagNoDecision},
		{Op: trace.OpTimerFire, Thread: clock}, // 6
		{Op: trace.OpAcquire, Thread: clock, Object: other + 16, Flags: trace.FlagNoDecision},
		{Op: trace.OpTimerReset, Site: 3, Object: timer},
		{Op: trace.OpRelease, Site: 3, Object: timer + 16, Flags: trace.FlagNoDecision},
		{Op: trace.OpTimerFire, Thread: clock}, // 10
		{Op: trace.OpAcquire, Thread: clock, Object: timer + 16, Flags: trace.FlagNoDecision},
	}}
	if got, want := Timers(tr), map[int]int{6: 2, 10: 8}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A timer of C has a thread of its own.
	tr = &trace.Trace{Events: []trace.Event{
		{Op: trace.OpTimerSet, Aux: 2},
		{Op: trace.OpTimerSet, Aux: 3},
		{Op: trace.OpTimerExpire, Thread: 1},
		{Op: trace.OpTimerExpire, Thread: 4},
	}}
	if got, want := Timers(tr), map[int]int{2: 0}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
