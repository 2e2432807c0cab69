package race

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A handler's accesses matter to those of the code below it, and to no others.
func TestHandlers(t *testing.T) {
	x, y, far := trace.MakeObject(trace.RegionGlobal, 0, 0x100), trace.MakeObject(trace.RegionGlobal, 0, 0x200), trace.MakeObject(trace.RegionGlobal, 0, 0x10000)
	handler := trace.MakeObject(trace.RegionGlobal, 0, 0x40)
	at := func(n int) trace.Site { return trace.MakeSite(0, uint64(n)) }
	ev := func(th trace.ThreadID, op trace.Op, site int, o trace.Object, size uint32) trace.Event {
		return trace.Event{Thread: th, Op: op, Site: at(site), Object: o, Size: size, Value: 10}
	}
	in := func(th trace.ThreadID) trace.Event { return ev(th, trace.OpSignalDeliver, 1, handler, 0) }
	out := func(th trace.ThreadID) trace.Event { return ev(th, trace.OpSignalReturn, 1, 0, 0) }
	for _, c := range []struct {
		name   string
		events []trace.Event
		want   []int
	}{
		{"read and write of one", []trace.Event{ev(0, trace.OpRead, 10, x, 4), in(0), ev(0, trace.OpWrite, 20, x, 4), out(0), ev(0, trace.OpRead, 11, y, 4)}, []int{10, 20}},
		{"later", []trace.Event{in(0), ev(0, trace.OpRead, 20, x, 4), out(0), ev(0, trace.OpWrite, 10, x, 4)}, []int{10, 20}},
		{"reads only", []trace.Event{ev(0, trace.OpRead, 10, x, 4), in(0), ev(0, trace.OpRead, 20, x, 4), out(0)}, nil},
		{"another thread", []trace.Event{ev(1, trace.OpWrite, 10, x, 4), in(0), ev(0, trace.OpWrite, 20, x, 4), out(0)}, nil},
		{"two handlers, one after the other", []trace.Event{in(0), ev(0, trace.OpWrite, 20, x, 4), out(0), in(0), ev(0, trace.OpWrite, 21, x, 4), out(0)}, nil},
		{"a handler in a handler", []trace.Event{in(0), ev(0, trace.OpRead, 20, x, 4), in(0), ev(0, trace.OpWrite, 30, x, 4), out(0), out(0)}, []int{20, 30}},
		{"a signal without a handler", []trace.Event{ev(0, trace.OpSignalDeliver, 1, 0, 0), ev(0, trace.OpWrite, 20, x, 4), ev(0, trace.OpRead, 10, x, 4)}, nil},
		{"a range around it", []trace.Event{ev(0, trace.OpWriteRange, 10, trace.MakeObject(trace.RegionGlobal, 0, 0), 1<<15), in(0), ev(0, trace.OpRead, 20, x, 4), ev(0, trace.OpRead, 21, far, 4), out(0)}, []int{10, 20}},
		{"atomics are points anyway", []trace.Event{ev(0, trace.OpAtomicStore, 10, x, 4), in(0), ev(0, trace.OpWrite, 20, x, 4), out(0)}, nil},
	} {
		var want []trace.Site
		for _, n := range c.want {
			want = append(want, at(n))
		}
		if got := Handlers(&trace.Trace{Events: c.events, Threads: make([]trace.Thread, 2)}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
