package result

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/wording"
)

// packageOutcomes are the outcomes of tests that determine their package's, in ascending order: the
// highest one wins.
var packageOutcomes = []string{Clean, Ignored, Unfinished, Failed, Found}

// Worsen sets the package's outcome to that of one of its tests, if that is worse.
func (r *Package) Worsen(outcome string) {
	if slices.Index(packageOutcomes, outcome) > slices.Index(packageOutcomes, r.Outcome) {
		r.Outcome = outcome
	}
}

// Totals are the totals over all packages of heddle test.
type Totals struct {
	Found      int            // bugs
	Failed     int            // packages and tests that heddle could not run
	Unfinished int            // tests without an execution that ended
	Ignored    int            // tests of which every execution ended in an ignored finding
	Leaks      int            // go statements whose goroutines leaked
	Findings   []*Test        // one for each finding
	Early      []engine.Early // failures that need a timer to fire early: not among the findings
}

// Totals lists the findings in all packages, the worst first, and what remains unknown.
func (p *Printer) Totals(t *Totals) error {
	w := p.Words
	if len(t.Findings) > 0 {
		slices.SortStableFunc(t.Findings, func(x, y *Test) int { return x.Finding.severity() - y.Finding.severity() })
		order := ""
		if len(t.Findings) > 1 {
			order = ", the worst first"
		}
		fmt.Fprintf(w, "\n%s found%s:\n", wording.Count(len(t.Findings), "bug"), order)
		for _, out := range t.Findings {
			fmt.Fprintf(w, "  %s %s: %s\n", out.Package, out.Test, out.Finding.Headline())
		}
	}
	if t.Unfinished > 0 {
		fmt.Fprintf(w, "%s unfinished: no execution ended in time, or none that failed did so again; nothing is known\n", wording.Count(t.Unfinished, "test"))
	}
	if t.Ignored > 0 {
		fmt.Fprintf(w, "%s only with ignored findings: every execution ended in one, and nothing else is known\n", wording.Count(t.Ignored, "test"))
	}
	if t.Leaks > 0 && p.LeaksNoted {
		fmt.Fprintf(w, "goroutines were left behind, started at %s: --leaks=fail makes that a failure, --leaks=ignore hides them\n", wording.Count(t.Leaks, "place"))
	}
	if len(t.Early) > 0 {
		fmt.Fprintln(w, earlyLine(t.Early))
	}
	return nil
}

// earlyLine counts the failures that need a timer to fire early.
func earlyLine(all []engine.Early) string {
	most := 0.0
	for _, e := range all {
		most = max(most, e.Ahead)
	}
	needs := "needs"
	if len(all) > 1 {
		needs = "need"
	}
	return fmt.Sprintf("%s %s a timer to fire up to %.3g ms early, before work that does not wait for it: --early-timeouts shows them", wording.Count(len(all), "finding"), needs, most*1000)
}
