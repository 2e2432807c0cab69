package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// timedWait is an execution in which thread 0 waits twice at one instruction, the second time until its deadline.
func timedWait() *trace.Trace {
	at := func(thread trace.ThreadID, op trace.Op, line uint64, flags trace.Flags) trace.Event {
		return trace.Event{Thread: thread, Op: op, Site: trace.MakeSite(0, line), Flags: flags}
	}
	return &trace.Trace{Events: []trace.Event{
		at(0, trace.OpCondWait, 5, 0),
		at(1, trace.OpCondSignal, 9, 0),
		at(0, trace.OpCondWake, 5, 0),
		at(0, trace.OpCondWait, 5, 0),
		at(0, trace.OpCondTimeout, 5, trace.FlagTimeout),
		at(1, trace.OpRead, 10, trace.FlagNoDecision),
		at(0, trace.OpCondWake, 5, 0),
		at(1, trace.OpSleep, 11, 0),
	}}
}

// TestHoldBeforeArrivals: the end of a wait's time is not an arrival, and comes before the same operation as what follows it.
func TestHoldBeforeArrivals(t *testing.T) {
	for event, arrival := range map[int]int{0: 1, 2: 2, 3: 3, 4: 4, 6: 4} {
		if h := HoldBefore(timedWait(), event, 0); h.Arrival != arrival {
			t.Errorf("event %d: held at arrival %d, want %d", event, h.Arrival, arrival)
		}
	}
}

func TestBefore(t *testing.T) {
	for event, want := range map[int][]int{2: {0, 1}, 4: {0, 1, 2, 3}, 6: {0, 1, 2, 3, 5}, 7: {0, 1, 2, 3, 4, 5, 6}} {
		if got := Before(timedWait(), event); !slices.Equal(got, want) {
			t.Errorf("before event %d come %v, want %v", event, got, want)
		}
	}
}

// TestTimeoutsTurned: in a script with another order, what ended because of the time may end before it.
func TestTimeoutsTurned(t *testing.T) {
	var early []trace.Op
	for _, s := range Steps(timedWait().Events) {
		if s.Timeout {
			early = append(early, s.Op)
		}
	}
	if !slices.Equal(early, []trace.Op{trace.OpCondTimeout, trace.OpSleep}) {
		t.Errorf("%v may end early", early)
	}
	x := failing(t, func(s *Setting) { s.Delays = schedule.AnyDelays })
	if p := x.Reordered(First(1)); p.Delays != schedule.AnyDelays || x.Follow(nil).Delays != schedule.AnyDelays {
		t.Errorf("the delays of %+v are not the setting's", p)
	}
}
