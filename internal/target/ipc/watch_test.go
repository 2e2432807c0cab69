package ipc

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// sent gives an execution records and returns its outcome.
func sent(t *testing.T, p *schedule.Plan, r abi.Result, records ...any) schedule.Outcome {
	t.Helper()
	x := execution{}
	x.begin(flat{}, p, 0)
	for _, record := range records {
		var kind uint32
		var b []byte
		switch v := record.(type) {
		case abi.Event:
			kind, b = abi.RecEvents, bytesOf(v)
		case abi.Race:
			kind, b = abi.RecRace, bytesOf(v)
		case abi.Block:
			kind, b = abi.RecBlock, bytesOf(v)
		case []abi.Profile:
			kind, b = abi.RecProfile, bytesOf(v...)
		case []uint32: // a stack
			kind, b = abi.RecStack, bytesOf(v...)
		}
		if _, err := x.add(kind, b); err != nil {
			t.Fatal(err)
		}
	}
	return outcome(flat{}, nil, p, &x, &r)
}

// Races carry the index of the trace's event that follows them, whether they arrive before or after
// the events that they follow; blocks become allocations.
func TestWatched(t *testing.T) {
	yield := abi.Event{Op: uint16(trace.OpYield), Enabled: 1}
	slot := abi.Event{Thread: 0, Value: 0} // no event of the trace
	read := abi.Event{Op: uint16(trace.OpRead), Flags: abi.EvNodecision, Enabled: 1, Object: 0x40, Size: 4}
	race := func(event uint64) abi.Race {
		return abi.Race{
			Pc: [2]uint64{0x10, 0x20}, Object: 0x48, Order: 30 + event, Event: event, Thread: [2]uint32{0, 1},
			Op: [2]uint16{uint16(trace.OpWrite), uint16(trace.OpFree)}, Size: 4, Stack: 1,
		}
	}
	handler := race(4)
	handler.Flags = abi.RaceHandler
	records := []any{
		slot, yield,
		[]uint32{1, 1, 0x20, 0},
		abi.Block{Object: 0x40, Size: 16, Pc: 0x30, Thread: 0, Stack: 1},
		race(3), // sent before the two events that precede it
		yield, read, yield,
		race(4), handler, race(2), // the last was kept back
		[]abi.Profile{{Pc: 0x10, Count: 5}}, []abi.Profile{{Pc: 0x20, Count: 6}},
	}
	result := abi.Result{Watched: 77, Notes: abi.NoteUnwatched}
	want := func(event int, handler bool) schedule.Race {
		return schedule.Race{
			Sites: [2]trace.Site{trace.MakeSite(0, 0x10), trace.MakeSite(0, 0x20)}, Ops: [2]trace.Op{trace.OpWrite, trace.OpFree},
			Threads: [2]trace.ThreadID{0, 1}, Object: 0x48, Size: 4, Order: 30 + event, Event: event, Stack: 1, Handler: handler,
		}
	}
	counts := map[trace.Site]int{trace.MakeSite(0, 0x10): 5, trace.MakeSite(0, 0x20): 6}
	block := []trace.Alloc{{Object: 0x40, Size: 16, Site: trace.MakeSite(0, 0x30), Stack: 1, Event: 1, Freed: -1}}
	for _, test := range []struct {
		name   string
		plan   schedule.Plan
		races  []schedule.Race
		allocs []trace.Alloc
	}{
		// The read is not an event of a trace without accesses.
		{"scheduling points", schedule.Plan{Watch: true, Record: true}, []schedule.Race{want(2, false), want(3, false), want(3, true), want(2, false)}, block},
		// With accesses, allocations are events, and blocks add nothing.
		{"accesses", schedule.Plan{Watch: true, Record: true, Accesses: true}, []schedule.Race{want(3, false), want(4, false), want(4, true), want(2, false)}, nil},
		{"no trace", schedule.Plan{Watch: true}, []schedule.Race{want(0, false), want(0, false), want(0, true), want(0, false)}, nil},
	} {
		for i := range test.races {
			r := &test.races[i]
			r.Order = []int{33, 34, 34, 32}[i]
			if !test.plan.Record {
				r.Stack = 0
			}
		}
		o := sent(t, &test.plan, result, records...)
		if w := (&schedule.Watched{Races: test.races, Counts: counts, Accesses: 77, Full: true}); !reflect.DeepEqual(o.Watched, w) {
			t.Errorf("%s: %+v, want %+v", test.name, o.Watched, w)
		}
		if test.plan.Record && !reflect.DeepEqual(o.Trace.Allocs, test.allocs) {
			t.Errorf("%s: blocks %+v, want %+v", test.name, o.Trace.Allocs, test.allocs)
		}
	}
	if o := sent(t, &schedule.Plan{Record: true}, result, records...); o.Watched != nil {
		t.Errorf("without the plan asking: %+v", o.Watched)
	}
}

// The runtime gets a share of the memory, and no bound if the loop has none.
func TestWatchBudget(t *testing.T) {
	for _, test := range []struct {
		plan   schedule.Plan
		memory int64
		want   uint64
	}{
		{schedule.Plan{Watch: true}, 1 << 20, 1 << 18},
		{schedule.Plan{Watch: true}, 0, maxWatch},
		{schedule.Plan{}, 1 << 20, 0},
	} {
		b, err := encode(flat{}, 1, &test.plan, 0, 1, test.memory, &sentPoints{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := (*abi.Plan)(unsafe.Pointer(&b[0]))
		if got := h.Flags&abi.PlanWatch != 0; got != test.plan.Watch || h.WatchBudget != test.want {
			t.Errorf("%+v: watch %t, budget %d, want %d", test.plan, got, h.WatchBudget, test.want)
		}
	}
}
