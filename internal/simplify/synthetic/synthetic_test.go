package synthetic_test

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/synthetic"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// TestWorkload: the traces are executions, the same each time, and what is asked for is what
// one gets.
func TestWorkload(t *testing.T) {
	edges := 0
	for i, l := range []synthetic.Workload{
		{Events: 20000, Threads: 2, Conflict: 0.001},
		{Events: 20000, Threads: 8, Conflict: 0.05},
		{Events: 20000, Threads: 8, Conflict: 0.3, Section: 0.1},
		{Events: 20000, Threads: 64, Conflict: 0.5, Section: 0.2, Locks: 4},
	} {
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		tr := tracegen.Synthetic(l)
		n := 0
		for ev := range l.All() {
			if e := &tr.Events[n]; e.Thread != ev.Thread || e.Op != ev.Op || e.Object != ev.Object || e.Value != ev.Value {
				t.Fatalf("event %d is another the second time", n)
			}
			n++
		}
		if n != len(tr.Events) || n < l.Events {
			t.Fatalf("%d events, %d in the trace", n, len(tr.Events))
		}
		holder := map[trace.Object]trace.ThreadID{}
		threads := map[trace.ThreadID]bool{}
		for j, ev := range tr.Events {
			threads[ev.Thread] = true
			switch h, held := holder[ev.Object]; ev.Op {
			case trace.OpMutexLock:
				if held {
					t.Fatalf("event %d: thread %d takes the lock that thread %d has", j, ev.Thread, h)
				}
				holder[ev.Object] = ev.Thread
			case trace.OpMutexUnlock:
				if !held || h != ev.Thread {
					t.Fatalf("event %d: thread %d lets go of a lock that it has not", j, ev.Thread)
				}
				delete(holder, ev.Object)
			}
		}
		if len(threads) != l.Threads+1 || len(holder) != 0 {
			t.Errorf("%d threads, %d locks held at the end", len(threads), len(holder))
		}
		e := depend.Build(tr).Edges()
		if i > 0 && e <= edges {
			t.Errorf("%+v has %d dependences, the one before %d", l, e, edges)
		}
		edges = e
	}
	// Stopping early is fine.
	for range (synthetic.Workload{}).All() {
		break
	}
}

func TestBadNumbers(t *testing.T) {
	for _, l := range []synthetic.Workload{{Conflict: 2}, {Write: -1}, {Stay: 1.1}, {Section: -0.1}, {Events: -1}, {Threads: 5000}} {
		if l.Check() == nil {
			t.Errorf("%+v was accepted", l)
		}
	}
}
