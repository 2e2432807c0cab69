package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/trace"
)

// The pairs around r are those of a thread whose last access before r is p, and whose next one is c.
func TestAroundRemote(t *testing.T) {
	t.Parallel()
	x, y := trace.MakeObject(trace.RegionGlobal, 0, 64), trace.MakeObject(trace.RegionGlobal, 0, 128)
	access := func(thread, line int, op trace.Op, o trace.Object) trace.Event {
		return trace.Event{Thread: trace.ThreadID(thread), Op: op, Site: trace.MakeSite(0, uint64(line)), Object: o, Size: 4}
	}
	statement := func(line int, op trace.Op) atomicity.Statement {
		return atomicity.Statement{Site: trace.MakeSite(0, uint64(line)), Op: op}
	}
	want := atomicity.Triple{P: statement(10, trace.OpRead), R: statement(20, trace.OpWrite), C: statement(11, trace.OpWrite)}
	for name, c := range map[string]struct {
		events []trace.Event
		want   [][2]int
	}{
		"once":               {[]trace.Event{access(1, 10, trace.OpRead, x), access(2, 20, trace.OpWrite, x), access(1, 11, trace.OpWrite, x)}, [][2]int{{1, 2}, {0, 1}}},
		"c never happens":    {[]trace.Event{access(1, 10, trace.OpRead, x), access(2, 20, trace.OpWrite, x)}, [][2]int{{0, 1}}},
		"p is not the last":  {[]trace.Event{access(1, 10, trace.OpRead, x), access(1, 12, trace.OpRead, x), access(2, 20, trace.OpWrite, x), access(1, 11, trace.OpWrite, x)}, nil},
		"c is not the next":  {[]trace.Event{access(1, 10, trace.OpRead, x), access(2, 20, trace.OpWrite, x), access(1, 12, trace.OpRead, x), access(1, 11, trace.OpWrite, x)}, nil},
		"of another object":  {[]trace.Event{access(1, 10, trace.OpRead, y), access(2, 20, trace.OpWrite, x), access(1, 11, trace.OpWrite, y)}, nil},
		"by the same thread": {[]trace.Event{access(1, 10, trace.OpRead, x), access(1, 20, trace.OpWrite, x), access(1, 11, trace.OpWrite, x)}, nil},
	} {
		tr := &trace.Trace{Events: c.events}
		var got [][2]int
		for _, side := range []int{1, 0} {
			for _, o := range aroundRemote(tr, want, side) {
				first, second := o.side(side)
				got = append(got, [2]int{first, second})
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}
