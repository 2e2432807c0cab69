package trace

import "testing"

// A context switch away from a thread that stands before a yield by which a library waits is a
// switch, but not a preemption; away from any other enabled thread it is both.
func TestCostOfLibraryYields(t *testing.T) {
	both, one := ThreadSet{Low: 1<<0 | 1<<1}, ThreadSet{Low: 1 << 1}
	events := []Event{
		{Thread: 0, Op: OpWrite, Enabled: both},
		{Thread: 1, Op: OpWrite, Enabled: both, Flags: FlagOffered},
		{Thread: 0, Op: OpYield, Enabled: both, Flags: FlagLibrary},
		{Thread: 0, Op: OpYield, Enabled: both, Flags: FlagLibrary | FlagOffered},
		{Thread: 1, Op: OpWrite, Enabled: one},
	}
	if c, want := CostOf(events), (Cost{Switches: 3, Preemptions: 1, Threads: 2, Events: 5}); c != want {
		t.Errorf("cost %+v, want %+v", c, want)
	}
	for i, want := range []bool{false, false, true, false, false} {
		if got := Preemptive(events, i); got != want {
			t.Errorf("event %d: preemptive %v, want %v", i, got, want)
		}
	}
	// Had another thread been chosen instead of last's next event, the event says whether that
	// would have been a preemption.
	for i, want := range []bool{true, true, false} {
		if got := events[i].Preempts(events[i].Thread); got != want {
			t.Errorf("event %d instead of its thread: %v, want %v", i, got, want)
		}
	}
}
