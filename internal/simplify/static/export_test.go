package static

import (
	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/trace"
)

// Merge returns the events of a trace in an order with fewer context switches that is the
// same execution: every operation sees and does what it did. Of orders with the same
// switches it takes one with few preemptions. Where no order has fewer switches, it
// returns the trace's own events.
//
// Thread ids stay those of the trace, so schedule.Steps of the result goes with the
// trace's thread table; Reordered is a whole trace.
func Merge(t *trace.Trace) []trace.Event {
	events, _ := merge(nil, t, depend.Build(t))
	return events
}
