package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A thread that another one interrupts by several accesses is interrupted whichever two neighbours are turned: the last of
// the others has to come before the first own access, or the second own one before the first of the others.
func TestInterruptions(t *testing.T) {
	x, y := trace.MakeObject(trace.RegionGlobal, 0, 64), trace.MakeObject(trace.RegionGlobal, 0, 128)
	access := func(thread, line int, op trace.Op, o trace.Object) trace.Event {
		return trace.Event{Thread: trace.ThreadID(thread), Op: op, Site: trace.MakeSite(0, uint64(line)), Object: o, Size: 4}
	}
	r, w := trace.OpRead, trace.OpWrite
	for name, c := range map[string]struct {
		events []trace.Event
		want   [][2]int
	}{
		"twice":       {[]trace.Event{access(1, 10, r, x), access(2, 20, r, x), access(2, 21, w, x), access(2, 20, r, x), access(2, 21, w, x), access(1, 11, w, x)}, [][2]int{{0, 4}, {1, 5}}},
		"once":        {[]trace.Event{access(1, 10, r, x), access(2, 21, w, x), access(1, 11, w, x)}, nil},
		"another":     {[]trace.Event{access(1, 10, r, x), access(2, 20, r, y), access(2, 21, w, y), access(1, 11, w, x)}, nil},
		"reads":       {[]trace.Event{access(1, 10, r, x), access(2, 20, r, x), access(2, 21, r, x), access(1, 11, r, x)}, nil},
		"two threads": {[]trace.Event{access(1, 10, r, x), access(2, 20, w, x), access(3, 21, w, x), access(1, 11, r, x)}, [][2]int{{0, 2}, {1, 3}}},
	} {
		got := Interruptions(&trace.Trace{Events: c.events})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
