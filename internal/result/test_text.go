package result

import (
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Test prints the result of a test, in the form of go test.
func (p *Printer) Test(out *Test) error {
	w := p.Words
	verdict := map[string]string{Found: "FAIL", Clean: "PASS", Interrupted: "STOP", Unfinished: "UNFINISHED", Ignored: "IGNORED", Failed: "ERROR"}[out.Outcome]
	if out.SkippedAlways() {
		verdict = "SKIP"
	}
	fmt.Fprintf(w, "--- %s: %s (%s)\n", verdict, out.Test, out.sums())
	if err := p.bounded(moreLines, "--full prints them", func(p *Printer) error { p.testNotes(out); return nil }); err != nil {
		return err
	}
	each := out.Each()
	for i, one := range each {
		if len(each) > 1 {
			fmt.Fprintf(w, "finding %d of %d: ", i+1, len(each))
		}
		whole := "--full prints them"
		if one.Trace != "" {
			whole = "heddle show " + wording.Quoted(one.Trace)
		}
		n := (testLines - 1 - moreLines) / len(each)
		if err := p.bounded(max(n, moreLines), whole, func(p *Printer) error { return p.testFinding(one) }); err != nil {
			return err
		}
	}
	for _, i := range out.Ignored {
		fmt.Fprintf(w, "    ignored: %s of %s\n", wording.Count(i.Executions, "execution"), i.Key)
	}
	return nil
}

// testNotes prints what is known of a test besides its findings.
func (p *Printer) testNotes(out *Test) {
	w := p.Words
	if c := out.Coverage; p.Exhaustive && c != nil && !c.Complete {
		var partly strings.Builder
		printCoverage(&partly, c, true)
		for line := range strings.Lines(partly.String()) {
			fmt.Fprint(w, "    ", line)
		}
	}
	for _, n := range out.Notes {
		fmt.Fprintf(p.Errors, "heddle: note: %s: %s\n", out.Test, n)
	}
	var cut strings.Builder
	if len(out.Stuck) > 0 {
		fmt.Fprintln(&cut, "its first execution did not end:")
		for _, at := range out.Stuck {
			fmt.Fprintln(&cut, "  "+at)
		}
	}
	PrintUnfinished(&cut, out.UnfinishedExecutions)
	if out.Outcome != Found {
		printCut(&cut, out.Cut, out.InTurns, out.Executions)
	}
	for line := range strings.Lines(cut.String()) {
		fmt.Fprint(w, "    ", line)
	}
	if out.Skipped > 0 && !out.SkippedAlways() {
		fmt.Fprintf(w, "    skipped: %s of %s\n", wording.Thousands(out.Skipped), wording.Count(out.Executions, "execution"))
	}
	for _, e := range out.Early {
		fmt.Fprintf(w, "    set aside: %s: needs a timer to fire up to %.3g ms early (--early-timeouts)\n", e.Message, e.Ahead*1000)
	}
	for _, l := range out.Leaks {
		if !l.Known {
			fmt.Fprintf(w, "    leak: %s\n", l.sentence())
		}
	}
	printFixed(w, "    ", out.Fixed, p.Prune)
	if out.Error != "" {
		fmt.Fprintf(p.Errors, "heddle: %s: %s\n", out.Test, out.Error)
	}
	if p.Stats && out.Report != nil && out.Report.NewProcesses > 0 {
		fmt.Fprintf(w, "    %s of %s had a new process\n", wording.Thousands(out.Report.NewProcesses), wording.Count(out.Report.Executions, "execution"))
	}
}

// testFinding prints a failure as heddle find does.
func (p *Printer) testFinding(out *Test) error {
	w, f := p.Words, out.Finding
	fmt.Fprintln(w, f.Headline())
	if f.Where != "" {
		fmt.Fprintf(w, "  at %s\n", f.Where)
	}
	if out.Known {
		fmt.Fprintf(w, "  found before, and not fixed\n")
	} else {
		fmt.Fprintf(w, "  found in %s; --seed %d finds it again\n", p.foundIn(f.Execution, f.Planned, f.Strategy), p.Seed)
	}
	printKey(w, f.Key)
	fmt.Fprintln(w)
	if p.Stats && out.Report != nil && out.Report.Simplified != nil {
		if err := p.Summary(out.Report.Simplified.Details); err != nil {
			return err
		}
	}
	if out.Shown != nil {
		if err := p.Trace(out.Shown); err != nil {
			return err
		}
	}
	if early := overtakings(out.Shown); early > 0 {
		fmt.Fprintf(w, "\n%s\n%s\n", earlySentence(early), p.earlyAdvice())
	}
	if out.Trace == "" {
		return nil
	}
	flag := ""
	if out.Changed {
		flag = " --changed"
	}
	fmt.Fprintf(w, "\nkept in:    %s%s\nreplay:     heddle replay%s %s\n", out.Trace, out.simplification(), flag, wording.Quoted(out.Trace))
	if f.Kind == trace.Race.String() && !out.Changed {
		fmt.Fprintf(w, "Go's race report: heddle replay --race-report %s\n", wording.Quoted(out.Trace))
	}
	printWhy(w, f, out.Trace)
	_, err := fmt.Fprintln(w)
	return err
}

// simplification returns how far the kept trace is simplified, for a message; nothing if it was kept
// before.
func (out *Test) simplification() string {
	switch {
	case out.Known || out.Report == nil:
		return ""
	case out.Report.Simplified == nil:
		return " (as found, not simplified)"
	}
	return " (simplified; " + strings.TrimPrefix(Unsimplified(out.Report.Simplified), " (")
}

// sums returns a test's figures.
func (out *Test) sums() string {
	parts := []string{fmt.Sprintf("%.2fs", out.Seconds)}
	switch {
	case out.Known && len(out.Findings) == 0:
		parts = append(parts, "kept schedule")
	case out.Outcome == Unfinished && (out.UnfinishedExecutions == nil || out.UnfinishedExecutions.Executions == out.Executions):
		parts = append(parts, "no execution ended")
	case out.Sequential:
		parts = append(parts, "one goroutine only")
	default:
		parts = append(parts, wording.Count(out.Executions, "execution"), wording.Count(out.Behaviours, "behaviour"))
		switch c := out.Coverage; {
		case c == nil || !c.Complete:
		case c.Preemptions >= 0:
			parts = append(parts, "complete up to "+c.Bound())
		default:
			parts = append(parts, "complete")
		}
	}
	return strings.Join(parts, ", ")
}

// Package prints a package's line in the form of go test.
func (p *Printer) Package(r *Package) error {
	if _, err := io.WriteString(p.Words, r.Listing); err != nil {
		return err
	}
	var line string
	switch r.Outcome {
	case NoTests:
		line = fmt.Sprintf("?   \t%s\t[no test files]", r.Package)
	case SetupFailed, BuildFailed:
		line = fmt.Sprintf("FAIL\t%s [%s]", r.Package, r.Outcome)
	case Clean, Listed:
		line = fmt.Sprintf("ok  \t%s\t%.3fs", r.Package, r.Seconds)
		if r.CoverageLine != "" {
			line += "\t" + r.CoverageLine
		}
		if r.Tests == 0 && r.Outcome == Clean {
			line += " [no tests to run]"
		}
	case Unfinished, Ignored:
		line = fmt.Sprintf("FAIL\t%s\t%.3fs", r.Package, r.Seconds)
		if p.AllowUnfinished {
			line = "ok  " + strings.TrimPrefix(line, "FAIL")
		}
	case Interrupted:
		line = fmt.Sprintf("STOP\t%s\t%.3fs", r.Package, r.Seconds)
	default:
		line = fmt.Sprintf("FAIL\t%s\t%.3fs", r.Package, r.Seconds)
		if r.Tests == 0 && r.Error != "" {
			fmt.Fprintf(p.Errors, "heddle: %s: %s\n", r.Package, r.Error)
		}
	}
	if r.Unfinished > 0 {
		line += fmt.Sprintf(" [%s unfinished]", wording.Count(r.Unfinished, "test"))
	}
	if r.Skipped > 0 {
		line += fmt.Sprintf(" [%s skipped]", wording.Count(r.Skipped, "test"))
	}
	if r.Ignored > 0 {
		line += fmt.Sprintf(" [%s only with ignored findings]", wording.Count(r.Ignored, "test"))
	}
	switch {
	case r.Outcome == Built:
		return nil // as go test -c
	case r.CoverageLine == "":
	case r.Outcome == Clean:
	default:
		line = r.CoverageLine + "\n" + line
	}
	_, err := fmt.Fprintln(p.Words, line)
	return err
}

// sentence describes the leaked goroutine.
func (l Leak) sentence() string {
	how := "left"
	if l.Running {
		how = "still running when the test ended"
	}
	s := fmt.Sprintf("a goroutine is %s (%s at %s)", how, l.Op, l.Where)
	if !l.Running {
		s += ", and nothing can wake it"
	}
	if l.Created != "" {
		s += "; started at " + l.Created
	}
	for _, p := range l.Partners {
		s += "; " + p
	}
	return s
}
