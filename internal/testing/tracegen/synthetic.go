package tracegen

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/simplify/synthetic"
	"github.com/heddle-dev/heddle/trace"
)

// Synthetic returns the trace of a workload.
func Synthetic(l synthetic.Workload) *trace.Trace {
	l = l.Defaults()
	t := &trace.Trace{Header: trace.Header{Target: "generated", Instrumented: true, Strategy: fmt.Sprintf("generated %+v", l)}}
	t.Threads = make([]trace.Thread, l.Threads+1)
	for i := range t.Threads {
		t.Threads[i] = trace.Thread{ID: trace.ThreadID(i), Nth: i, Ended: true}
	}
	t.Threads[0].Parent = -1
	t.Events = make([]trace.Event, 0, l.Events+4*l.Threads+8)
	for ev := range l.All() {
		t.Events = append(t.Events, *ev)
	}
	return t
}
