package strategy

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestCTriggerTimes: what a recording leaves out takes time in the thread that did it.
func TestCTriggerTimes(t *testing.T) {
	o := &schedule.Outcome{Trace: &trace.Trace{
		Threads: make([]trace.Thread, 2),
		Events:  []trace.Event{{Thread: 0}, {Thread: 1}, {Thread: 0}, {Thread: 1}},
	}}
	if got := times(o); got != nil {
		t.Errorf("%v where nothing was left out", got)
	}
	o.LeftOut = []schedule.LeftOut{{Event: 1, Accesses: 10}, {Event: 2, Accesses: 100}}
	if got, want := times(o), []uint64{1, 11, 102, 12}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
