package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestQuiet: what busy instructions access is left out of a long base only if no schedule lets two threads access it in another order.
func TestQuiet(t *testing.T) {
	const before, own, shared, table, both, rare, late trace.Site = 1, 2, 3, 4, 5, 6, 7
	q := newQuiet()
	q.Begin(0)
	event := func(th trace.ThreadID, op trace.Op, site trace.Site, object trace.Object, value uint64) {
		q.Event(&trace.Event{Thread: th, Op: op, Site: site, Object: object, Size: 8, Value: value, Flags: trace.FlagNoDecision})
	}
	for i := range trace.Object(busy) {
		event(0, trace.OpWrite, before, 1<<20+8*i, 0)
		event(0, trace.OpWrite, table, 2<<20, 0)
	}
	event(0, trace.OpWrite, rare, 3<<20, 0)
	event(0, trace.OpThreadCreate, 0, 0, 1)
	event(0, trace.OpThreadCreate, 0, 0, 2)
	for i := range trace.Object(busy) {
		for th := trace.ThreadID(1); th <= 2; th++ {
			event(th, trace.OpRead, table, 2<<20, 0)                      // after the write, and nobody writes again
			event(th, trace.OpWrite, own, 1<<20+trace.Object(th)*1024, 0) // what T0 has written before
			event(th, trace.OpWrite, shared, 4<<20+8*trace.Object(th)+8*i%64, 0)
			event(th, trace.OpWrite, both, 5<<20+64*trace.Object(th), 0)
		}
	}
	event(2, trace.OpRead, rare, 5<<20+64, 0) // makes what `both` writes shared
	for range busy {
		event(1, trace.OpWrite, late, 6<<20+64, 0)
		event(2, trace.OpWrite, own, 7<<20, 0)
	}
	if got, want := q.sites(1), []trace.Site{before, own, table}; !slices.Equal(got, want) {
		t.Errorf("left out: %v, want %v", got, want)
	}
}
