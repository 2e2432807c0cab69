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
	Tests      int     // explored, or to be explored
	Found      int     // bugs
	Failed     int     // packages and tests that heddle could not run
	Unfinished int     // tests without an execution that ended
	Ignored    int     // tests of which every execution ended in an ignored finding
	Leaks      int     // go statements whose goroutines leaked
	Findings   []*Test // one for each finding
	// Early are failures that need a timer to fire early: not among the findings.
	Early []engine.Early
	// Unexplored are the tests and packages of which nothing is known.
	Unexplored []Unexplored
}

// Unexplored is a test, or a package if Test is empty, of which nothing is known.
type Unexplored struct{ Package, Test, Why string }

// mostUnexplored is the number of them that a summary names.
const mostUnexplored = 10

// unexplored lists them.
func (p *Printer) unexplored(t *Totals) {
	tests, packages := []string{}, []string{}
	for _, u := range t.Unexplored {
		if u.Test == "" {
			packages = append(packages, fmt.Sprintf("  %s: %s\n", u.Package, u.Why))
		} else {
			tests = append(tests, fmt.Sprintf("  %s %s: %s\n", u.Package, u.Test, u.Why))
		}
	}
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(p.Words, "%s could not be explored:\n", title)
		for _, line := range lines[:min(len(lines), mostUnexplored)] {
			fmt.Fprint(p.Words, line)
		}
		if more := len(lines) - mostUnexplored; more > 0 {
			fmt.Fprintf(p.Words, "  and %s more\n", wording.Thousands(more))
		}
	}
	list(fmt.Sprintf("%s of %s", wording.Thousands(len(tests)), wording.Count(t.Tests, "test")), tests)
	list(wording.Count(len(packages), "package"), packages)
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
	p.unexplored(t)
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
