package report

import "github.com/heddle-dev/heddle/trace"

// Pattern names the kind of bug that an ordering of events of t shows; OrderViolation for none. passing is as for Explain.
func (r *Running) Pattern(t, passing *trace.Trace, o *Order) string {
	x := &explaining{t: t, passing: passing, names: r, said: map[int]bool{}}
	return x.pattern(o).name
}
