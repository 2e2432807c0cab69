package result

import (
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
)

// WhyOf is what a finding says of its cause; nil for nil.
func WhyOf(e *report.Explanation) *Why {
	if e == nil {
		return nil
	}
	return &Why{e.Pattern, e.Short, e.Text, e.Line, append([]int{}, e.Told...), e.Passing, e.Executions, e.Cut, e.Reason, e.Passed}
}

// Said is why a finding fails in one line, the same in every output; it is empty if that is not known.
func (f *Finding) Said() string {
	switch {
	case f.Why == nil:
		return ""
	case f.Why.Cut && f.Why.Line == "":
		return f.Why.Reason.Says(f.Why.Executions, f.Why.Passed)
	}
	return f.Why.Line
}

// printWhy prints the ordering on which a finding depends; trace is the finding's.
func printWhy(w io.Writer, f *Finding, trace string) {
	if said := f.Said(); said != "" {
		fmt.Fprintf(w, "why:        %s (heddle explain %s)\n", said, wording.Quoted(trace))
	}
}
