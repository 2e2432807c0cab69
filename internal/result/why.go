package result

import (
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
)

func whyOf(e *report.Explanation) *Why {
	return &Why{e.Pattern, e.Short, e.Text, e.Executions, e.Cut, e.Reason, e.Passed}
}

// printWhy prints the ordering on which a finding depends; trace is the finding's.
func printWhy(w io.Writer, why *Why, trace string) {
	said := why.Short
	switch {
	case why.Cut:
		said = report.OutOfTime.Says(why.Executions, why.Passed)
	case said == "":
		said = why.Reason.Says(why.Executions, why.Passed)
	}
	fmt.Fprintf(w, "why:        %s (heddle explain %s)\n", said, wording.Quoted(trace))
}
