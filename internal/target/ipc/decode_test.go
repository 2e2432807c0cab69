package ipc

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// flat is a program whose addresses are their own names.
type flat struct{}

func (flat) Launch(context.Context) (*Process, error) { return nil, errors.New("not started") }
func (flat) PC(s trace.Site) uint64                   { return s.Offset() }
func (flat) Site(pc uint64) trace.Site                { return trace.MakeSite(0, pc) }
func (flat) Object(addr uint64, _ *Stacks, _ trace.ThreadID) trace.Object {
	return trace.Object(addr)
}
func (flat) MarkVisited()                                                 {}
func (flat) Pointer(uint64, *Stacks, trace.ThreadID) (trace.Object, bool) { return 0, false }
func (flat) Header() trace.Header                                         { return trace.Header{} }
func (flat) Modules() []trace.Module                                      { return []trace.Module{{Program: true}} }
func (flat) Begin()                                                       {}
func (flat) Ended(_ *Process, _ *schedule.Plan, e *trace.Ending)          {}

func bytesOf[T any](v ...T) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0]))))
}

// More than 64 threads: the words that follow an event belong to its enabled set.
func TestWideEnabledSet(t *testing.T) {
	words := make([]uint64, 8)
	words[0], words[2] = 1<<3, 1<<5
	x, p := execution{}, &schedule.Plan{Record: true}
	x.begin(flat{}, p, 0)
	for _, b := range [][]byte{
		append(bytesOf(abi.Event{Thread: 1, Op: uint16(trace.OpYield), Enabled: 2, Mask: 1}), bytesOf(words...)...),
		bytesOf(abi.Event{Thread: 67, Op: uint16(trace.OpYield), Enabled: 2}),
	} {
		if _, err := x.add(abi.RecEvents, b); err != nil {
			t.Fatal(err)
		}
	}
	tr := x.trace(p, trace.Ending{})
	if len(tr.Events) != 2 || tr.Events[1].Thread != 67 {
		t.Fatalf("events %+v", tr.Events)
	}
	var got []trace.ThreadID
	for id := range trace.ThreadID(400) {
		if tr.Events[0].Enabled.Has(id) {
			got = append(got, id)
		}
	}
	if want := []trace.ThreadID{1, 64 + 3, 64*3 + 5}; !reflect.DeepEqual(got, want) {
		t.Errorf("enabled %v, want %v", got, want)
	}
}

// A reused slot means another thread from then on, even if its bit has not changed; a thread's
// number is unique.
func TestSlotUsedAgain(t *testing.T) {
	const yield = uint16(trace.OpYield)
	slot := func(thread uint32, slot uint64) abi.Event { return abi.Event{Thread: thread, Value: slot} }
	p := &schedule.Plan{Record: true}
	x := execution{}
	x.begin(flat{}, p, 0)
	if _, err := x.add(abi.RecEvents, bytesOf(
		slot(0, 0), slot(1, 1),
		abi.Event{Op: yield, Enabled: 3},
		abi.Event{Thread: 1, Op: yield, Enabled: 3},
		slot(100_000, 1),
		abi.Event{Thread: 100_000, Op: yield, Enabled: 3},
		abi.Event{Op: yield, Flags: abi.EvNodecision, Enabled: 2},
		abi.Event{Op: yield, Enabled: 1},
	)); err != nil {
		t.Fatal(err)
	}
	tr := x.trace(p, trace.Ending{})
	var got []string
	for i := range tr.Events {
		got = append(got, tr.Events[i].Enabled.String())
	}
	if want := []string{"{0,1}", "{0,1}", "{0,100000}", "{100000}", "{0}"}; !reflect.DeepEqual(got, want) {
		t.Errorf("enabled %v, want %v", got, want)
	}
}

// TestLeftOut: the accesses that the runtime left out before an event are those of the trace's event, whatever the trace drops.
func TestLeftOut(t *testing.T) {
	x, p := execution{}, &schedule.Plan{Record: true, Accesses: true, MaxAccesses: 1}
	x.begin(flat{}, p, 0)
	read := abi.Event{Op: uint16(trace.OpRead), Flags: abi.EvNodecision, Enabled: 1}
	for _, r := range []struct {
		kind uint32
		b    []byte
	}{
		{abi.RecLeftOut, bytesOf(abi.LeftOut{Event: 0, Accesses: 5}, abi.LeftOut{Event: 2, Accesses: 6})},
		{abi.RecEvents, bytesOf(abi.Event{Op: uint16(trace.OpYield), Enabled: 1}, read, read)},
		{abi.RecLeftOut, bytesOf(abi.LeftOut{Event: 3, Accesses: 1 << 40})},
		{abi.RecEvents, bytesOf(abi.Event{Op: uint16(trace.OpYield), Enabled: 1})},
	} {
		if _, err := x.add(r.kind, r.b); err != nil {
			t.Fatal(err)
		}
	}
	tr := x.trace(p, trace.Ending{})
	// The second read is one too many to be kept.
	if want := []schedule.LeftOut{{Event: 0, Accesses: 5}, {Event: 2, Accesses: 1 << 40}}; len(tr.Events) != 3 || !reflect.DeepEqual(x.left, want) {
		t.Errorf("%d events, left out %+v, want %+v", len(tr.Events), x.left, want)
	}
}

// What the program under test may have written over comes out as an error or as nonsense
// that Validate finds, never as a crash.
func FuzzRecords(f *testing.F) {
	f.Add(append([]byte{abi.RecResult}, bytesOf(abi.Result{Outcome: 99})...))
	f.Add(append([]byte{abi.RecEvents}, bytesOf(abi.Event{Mask: 7}, abi.Event{})...))
	f.Add([]byte{abi.RecStack, 1, 0, 0, 0, 255, 255, 255, 255, 1})
	f.Add(append([]byte{abi.RecWaiter}, bytesOf(abi.Waiter{Thread: 1, Holder: 2})...))
	f.Add(append([]byte{abi.RecThread}, bytesOf(abi.ThreadInfo{Flags: 9})...))
	f.Add(append([]byte{abi.RecRace}, bytesOf(abi.Race{Stack: 9, Thread: [2]uint32{1 << 31, 2}, Event: 7})...))
	f.Add(append([]byte{abi.RecProfile}, bytesOf(abi.Profile{Pc: 1, Count: 1 << 63})...))
	f.Add(append([]byte{abi.RecBlock}, bytesOf(abi.Block{Object: 1, Size: 1 << 63, Stack: 9})...))
	f.Add(append([]byte{abi.RecLeftOut}, bytesOf(abi.LeftOut{Event: 1 << 63, Accesses: 1 << 63})...))
	f.Add(append([]byte{abi.RecAgain}, byte(abi.RecResult)))
	f.Add([]byte{abi.RecOutput, 1, 0, 0, 0, 9, 0, 0, 0, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &schedule.Plan{Record: true, Accesses: len(data)%2 == 0, Watch: true, Script: make([]schedule.Step, 3)}
		x, r := execution{}, &abi.Result{}
		begin := func() { // as Loop does
			if !x.begun {
				x.begin(flat{}, p, 0)
			}
		}
		for len(data) > 0 {
			// A kind, and up to 130 bytes, aligned as in the ring.
			n := min(len(data)-1, 130)
			b := bytesOf(make([]uint64, 17)...)[:n]
			copy(b, data[1:])
			begin()
			if got, err := x.add(uint32(data[0]), b); err == nil && got != nil {
				r = got
			}
			data = data[1+n:]
		}
		begin()
		o := outcome(flat{}, nil, p, &x, r)
		_ = trace.Validate(o.Trace)
	})
}

// A ring whose sizes were overwritten does not lead anywhere else in memory.
func TestDamagedRing(t *testing.T) {
	for _, size := range []uint32{0, 7, 1 << 20, 513} {
		r := newRing(512)
		r.Put(1, []byte("abc"))
		(*abi.RecHeader)(unsafe.Pointer(&r.bytes[0])).Size = size
		if kind, _, ok := r.Next(); !ok || kind != recDamaged {
			t.Errorf("size %d: record of kind %d, %t", size, kind, ok)
		}
	}
}
