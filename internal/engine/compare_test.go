package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestWatchdogsPlace: a hang that the watchdog ended is the same hang at any instruction of its
// loop; any other difference counts.
func TestWatchdogsPlace(t *testing.T) {
	recorded := trace.Ending{Kind: trace.Hang, Message: "watchdog: the program computes", Thread: 1, Site: trace.MakeSite(0, 0x53), Output: []byte("tick tick ")}
	for _, test := range []struct {
		name   string
		change func(*trace.Ending)
		same   bool
	}{
		{"site", func(e *trace.Ending) { e.Site++ }, true},
		{"more output", func(e *trace.Ending) { e.Output = []byte("tick tick tick ") }, true},
		{"other output", func(e *trace.Ending) { e.Output = []byte("tock tick tick ") }, false},
		{"thread", func(e *trace.Ending) { e.Thread++ }, false},
		{"message", func(e *trace.Ending) { e.Message = "no progress" }, false},
		{"kind", func(e *trace.Ending) { e.Kind = trace.Deadlock }, false},
	} {
		met := recorded
		test.change(&met)
		if d := same(&trace.Trace{Ending: recorded}, &trace.Trace{Ending: met}); (d == nil) != test.same {
			t.Errorf("%s: %v", test.name, d)
		}
	}
	other := recorded
	other.Message = "no progress"
	met := other
	met.Site++
	if same(&trace.Trace{Ending: other}, &trace.Trace{Ending: met}) == nil {
		t.Error("a hang that the runtime found has a place")
	}
}
