package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// Variables that share a word of memory are different objects: an access to one of them hides none to the other.
func TestConflictsOfNeighbours(t *testing.T) {
	base := trace.MakeObject(trace.RegionGlobal, 0, 64)
	access := func(th trace.ThreadID, op trace.Op, at, size uint64) trace.Event {
		return trace.Event{Thread: th, Op: op, Object: base + trace.Object(at), Size: uint32(size)}
	}
	events := []trace.Event{
		access(1, trace.OpRead, 0, 4),
		access(2, trace.OpRead, 4, 4),
		access(2, trace.OpWrite, 0, 4),
		access(1, trace.OpWrite, 4, 4),
		access(1, trace.OpRead, 0, 16), // both, and the next word
		access(2, trace.OpWrite, 12, 2),
	}
	got := Conflicts(&trace.Trace{Events: events}, func(*trace.Event) bool { return true })
	if want := [][2]int{{0, 2}, {1, 3}, {2, 4}, {4, 5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestHalfway: a channel is closed in the middle of another thread's operation on it.
func TestHalfway(t *testing.T) {
	channel := trace.MakeObject(trace.RegionHeap, 1, 0)
	event := func(th trace.ThreadID, op trace.Op, site uint64, at trace.Object) trace.Event {
		return trace.Event{Thread: th, Op: op, Site: trace.MakeSite(0, site), Object: channel + at}
	}
	events := []trace.Event{
		event(1, trace.OpChanSend, 1, 0),
		event(2, trace.OpChanClose, 2, 0),
		event(1, trace.OpRead, 1, 16), // the rest of the send
		event(1, trace.OpChanSend, 1, 0),
		event(1, trace.OpRead, 1, 16), // closed before it began
		event(1, trace.OpRead, 3, 16), // no part of it
	}
	if got, want := Halfway(&trace.Trace{Events: events}), [][2]int{{1, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
