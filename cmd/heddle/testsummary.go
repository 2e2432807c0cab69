package main

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/trace"
)

// packageOutcomes are the outcomes of a package's tests, from the least to the one that the
// package has if one of its tests has it.
var packageOutcomes = []string{"clean", "unfinished", "failed", "found"}

// worsen gives the package the outcome of one of its tests, if that is worse than its own.
func (r *packageJSON) worsen(outcome string) {
	if slices.Index(packageOutcomes, outcome) > slices.Index(packageOutcomes, r.Outcome) {
		r.Outcome = outcome
	}
}

// severity orders findings, the worst first.
func (f *findingJSON) severity() int {
	for k := trace.Kind(0); k <= trace.Race; k++ {
		if k.String() == f.Kind {
			return finding.Severity(k)
		}
	}
	return finding.Severity(trace.Clean)
}

// printSummary lists what was found in all packages, the worst first, and what is left open.
func (s *suite) printSummary() error {
	a, w := s.app, s.app.stdout
	if a.JSON {
		return nil
	}
	if len(s.findings) > 0 {
		slices.SortStableFunc(s.findings, func(x, y *testResult) int { return x.Finding.severity() - y.Finding.severity() })
		fmt.Fprintf(w, "\n%s found, the worst first:\n", count(len(s.findings), "bug"))
		for _, out := range s.findings {
			fmt.Fprintf(w, "  %s %s: %s\n", out.Package, out.Test, headline(out.Finding.Kind, out.Finding.Message))
		}
	}
	if s.unfinished > 0 {
		fmt.Fprintf(w, "%s unfinished: no execution ended in time, and nothing is known\n", count(s.unfinished, "test"))
	}
	if s.leaks > 0 && s.command.leaks() == leaksNote {
		fmt.Fprintf(w, "goroutines were left behind, started at %s: --leaks=fail makes that a failure, --leaks=ignore is silent\n", count(s.leaks, "place"))
	}
	return nil
}
