package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Each schedule keeps every thread's own order and all operations, differs from the execution's, and moves one
// context switch.
func TestShiftedSwitches(t *testing.T) {
	tr := &trace.Trace{}
	for i, th := range []trace.ThreadID{0, 0, 1, 1, 1, 2, 0, 1} {
		tr.Events = append(tr.Events, trace.Event{Thread: th, Site: trace.Site(i + 1)})
	}
	tr.Events[3].Flags = trace.FlagNoDecision
	seen := 0
	for _, script := range New(Setting{}).On(tr, schedule.Plan{}).Shifted(3) {
		script := script()
		var order []int
		last := map[trace.ThreadID]trace.Site{}
		for _, s := range script {
			if s.Site <= last[trace.ThreadID(s.Thread)] {
				t.Errorf("%v: thread %d goes back", script, s.Thread)
			}
			last[trace.ThreadID(s.Thread)] = s.Site
			order = append(order, int(s.Site))
		}
		if len(order) != len(tr.Events)-1 || slices.IsSorted(order) {
			t.Errorf("%v is not a neighbour", order)
		}
		if slices.Equal(order, []int{1, 2, 3, 6, 5, 7, 8}) { // T2 comes one operation of T1's earlier
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("one neighbour was made %d times", seen)
	}
}
