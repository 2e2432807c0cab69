package report

import (
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/trace"
)

// Pattern names the kind of bug that an ordering of events of t shows; pattern.OrderViolation for none. passing is as for Explain.
func (r *Running) Pattern(t, passing *trace.Trace, o *Order) string {
	return pattern.Of(&pattern.Execution{Trace: t, Passing: passing, Order: o.events(), Functions: r.functions, Calls: r.calls, Own: r.own}).Pattern.Name
}
