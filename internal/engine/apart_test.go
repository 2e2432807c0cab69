package engine

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/trace"
)

// With the interleaving removed, a thread's p and c come one after the other, at p or at c, and nothing else moves past what it depends on.
func TestApart(t *testing.T) {
	t.Parallel()
	x, y := trace.MakeObject(trace.RegionGlobal, 0, 64), trace.MakeObject(trace.RegionGlobal, 0, 128)
	event := func(thread, line int, op trace.Op, o trace.Object) trace.Event {
		return trace.Event{Thread: trace.ThreadID(thread), Op: op, Site: trace.MakeSite(0, uint64(line)), Object: o, Size: 4}
	}
	statement := func(line int, op trace.Op) atomicity.Statement {
		return atomicity.Statement{Site: trace.MakeSite(0, uint64(line)), Op: op}
	}
	list := []atomicity.Interleaving{{Triple: atomicity.Triple{P: statement(10, trace.OpRead), R: statement(20, trace.OpWrite), C: statement(11, trace.OpWrite)}}}
	p, c := event(1, 10, trace.OpRead, x), event(1, 11, trace.OpWrite, x)
	r, own, other := event(2, 20, trace.OpWrite, x), event(1, 12, trace.OpWrite, y), event(2, 21, trace.OpWrite, y)
	lock := trace.MakeObject(trace.RegionGlobal, 0, 256)
	acquire, release := event(1, 13, trace.OpMutexLock, lock), event(1, 14, trace.OpMutexUnlock, lock)
	for name, test := range map[string]struct {
		events      []trace.Event
		early, late []int // indices into events
	}{
		"once":             {[]trace.Event{p, own, other, r, c}, []int{0, 1, 4, 2, 3}, []int{2, 3, 0, 1, 4}},
		"in a section":     {[]trace.Event{acquire, p, release, r, c}, []int{0, 1, 2, 4, 3}, []int{3, 0, 1, 2, 4}},
		"twice":            {[]trace.Event{p, r, c, p, r, c}, []int{0, 2, 1, 3, 5, 4}, []int{1, 0, 2, 4, 3, 5}},
		"does not occur":   {[]trace.Event{p, c, r}, []int{0, 1, 2}, []int{0, 1, 2}},
		"c never happens":  {[]trace.Event{p, r, own}, []int{0, 1, 2}, []int{0, 1, 2}},
		"of other objects": {[]trace.Event{event(1, 10, trace.OpRead, y), r, c}, []int{0, 1, 2}, []int{0, 1, 2}},
	} {
		for _, late := range []bool{false, true} {
			want := test.early
			if late {
				want = test.late
			}
			var sites, wanted []trace.Site
			for _, s := range apart(&trace.Trace{Events: test.events}, list, late) {
				sites = append(sites, s.Site)
			}
			for _, i := range want {
				wanted = append(wanted, test.events[i].Site)
			}
			if !slices.Equal(sites, wanted) {
				t.Errorf("%s, late %v: %v, want %v", name, late, sites, wanted)
			}
		}
	}
}
