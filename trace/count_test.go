package trace

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/heddle-dev/heddle/trace/tracepb"
)

// long returns the bytes of a trace file with n events, and more than worthCounting bytes.
func long(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	e, err := NewEncoder(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WriteHeader(Header{}); err != nil {
		t.Fatal(err)
	}
	events := make([]Event, n)
	x := uint64(1)
	for i := range events {
		x = x*6364136223846793005 + 1442695040888963407
		events[i] = Event{Op: OpYield, Enabled: ThreadSet{Low: 1}, Value: x >> 32}
	}
	if err := e.WriteEvents(events); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(Ending{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() < worthCounting {
		t.Fatalf("the file has %d bytes", b.Len())
	}
	return b.Bytes()
}

func file(t *testing.T, b []byte) string {
	name := filepath.Join(t.TempDir(), "t.hdl")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestReadLongFile: the events of a long trace take their memory once.
func TestReadLongFile(t *testing.T) {
	const n = 400_000
	name := file(t, long(t, n))
	if got := countEvents(t.Context(), name); got != n {
		t.Errorf("%d events counted, want %d", got, n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tr, err := ReadFile(name)
	runtime.ReadMemStats(&after)
	if err != nil || len(tr.Events) != n {
		t.Fatalf("%v, %d events", err, len(tr.Events))
	}
	if cap(tr.Events) != n {
		t.Errorf("room for %d events, which has %d", cap(tr.Events), n)
	}
	size := uint64(n) * uint64(unsafe.Sizeof(Event{}))
	if got := after.Mallocs - before.Mallocs; got > n/10 {
		t.Errorf("%d allocations", got)
	}
	t.Logf("%d MB for %d MB of events", (after.TotalAlloc-before.TotalAlloc)>>20, size>>20)
}

// TestReadDamagedLongFile: of a file that is cut the events before the cut are read, and a block whose number of events is forged
// is not believed.
func TestReadDamagedLongFile(t *testing.T) {
	const n = 100_000
	whole := long(t, n)
	tr, err := ReadPrefix(file(t, whole[:len(whole)/2]))
	if !errors.Is(err, ErrIncomplete) || len(tr.Events) == 0 || len(tr.Events) >= n {
		t.Errorf("%d events: %v", len(tr.Events), err)
	}
	plain := unpack(t, whole)
	forged := delimited(t,
		&tracepb.Record{Kind: &tracepb.Record_Header{Header: &tracepb.Header{}}},
		&tracepb.Record{Kind: &tracepb.Record_Events{Events: &tracepb.EventBlock{Count: maxBlockEvents, IntervalLength: []uint32{1}}}})
	if got := countEvents(t.Context(), file(t, pack(t, append(forged, plain...)))); got != 0 {
		t.Errorf("%d events counted in a forged file", got)
	}
}

// TestReadWithin: reading ends with its context.
func TestReadWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if tr, err := ReadFile(file(t, long(t, 100_000)), Within(ctx)); !errors.Is(err, context.Canceled) || tr != nil {
		t.Errorf("%v", err)
	}
}
