package main

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/trace"
)

// testJSON is a line that --json prints for a test; docs/json.md.
type testJSON struct {
	Package    string  `json:"package"`
	Test       string  `json:"test"`
	Outcome    string  `json:"outcome"` // found, clean, unfinished, interrupted, failed
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	Behaviours int     `json:"behaviours"`
	Points     int     `json:"points"`
	// RacesIncomplete says why races may have been missed.
	RacesIncomplete string         `json:"races_incomplete,omitempty"`
	Sequential      bool           `json:"sequential,omitempty"`
	Notes           []string       `json:"notes,omitempty"`
	Leaks           []leakJSON     `json:"leaks,omitempty"`
	Finding         *findingJSON   `json:"finding,omitempty"`
	Known           bool           `json:"known,omitempty"`
	Changed         bool           `json:"changed,omitempty"`
	Trace           string         `json:"trace,omitempty"`
	Simplified      *simplifedJSON `json:"simplified,omitempty"`
	Fixed           []string       `json:"fixed,omitempty"`
	Error           string         `json:"error,omitempty"`
}

// packageJSON is the line for a package, after those of its tests.
type packageJSON struct {
	Package string  `json:"package"`
	Outcome string  `json:"outcome"` // found, clean, unfinished, interrupted, no tests, setup failed, build failed, failed
	Seconds float64 `json:"seconds"`
	Tests   int     `json:"tests"`
	Found   int     `json:"found"`
	// Unfinished are tests of which no execution ended in time.
	Unfinished int               `json:"unfinished,omitempty"`
	Leaks      []packageLeakJSON `json:"leaks,omitempty"`
	// Executions of all tests.
	Executions int    `json:"executions"`
	Error      string `json:"error,omitempty"`
}

// printLine prints one value on one line, as soon as it is known.
func (a *app) printLine(v any) error {
	return a.encode(v, "")
}

// printTest prints the result of a test, in the form of go test.
func (s *suite) printTest(out *testResult) error {
	a, w := s.app, s.app.stdout
	if a.JSON {
		return a.printLine(&out.testJSON)
	}
	verdict := map[string]string{"found": "FAIL", "clean": "PASS", "interrupted": "STOP", "unfinished": "UNFINISHED", "failed": "ERROR"}[out.Outcome]
	fmt.Fprintf(w, "--- %s: %s (%s)\n", verdict, out.Test, out.sums())
	for _, n := range out.Notes {
		fmt.Fprintf(a.stderr, "heddle: note: %s: %s\n", out.Test, n)
	}
	for _, l := range out.Leaks {
		if !l.Known {
			fmt.Fprintf(w, "    leak: %s\n", l.sentence())
		}
	}
	for _, name := range out.Fixed {
		fate := "it is left alone; remove it, or use --prune"
		if s.command.Prune {
			fate = "it is removed"
		}
		fmt.Fprintf(w, "    fixed? the schedule in %s does not fail any more: %s\n", name, fate)
	}
	if out.Error != "" {
		fmt.Fprintf(a.stderr, "heddle: %s: %s\n", out.Test, out.Error)
	}
	if out.Finding == nil {
		return nil
	}
	return s.printFinding(out)
}

// printFinding prints a failure as heddle find does.
func (s *suite) printFinding(out *testResult) error {
	a, w, f := s.app, s.app.stdout, out.Finding
	fmt.Fprintln(w, headline(f.Kind, f.Message))
	if f.Where != "" {
		fmt.Fprintf(w, "  at %s\n", f.Where)
	}
	if out.Known {
		fmt.Fprintf(w, "  found before, and not fixed\n\n")
	} else {
		fmt.Fprintf(w, "  found in execution %s by %s; --seed %d finds it again\n\n", thousands(f.Execution), strategy.Unseeded(f.Strategy), s.command.Seed)
	}
	if s.command.Stats && out.report != nil && out.report.Simplified != nil {
		if err := a.showSummary(out.report.Simplified.Details); err != nil {
			return err
		}
	}
	if out.shown != nil {
		if err := a.showTrace(out.shown, s.command.Full); err != nil {
			return err
		}
	}
	if early := overtakings(out.shown); early > 0 {
		fmt.Fprintf(w, "\n%s\n", earlySentence(early))
	}
	if out.Trace == "" {
		return nil
	}
	flag := ""
	if out.Changed {
		flag = " --changed"
	}
	fmt.Fprintf(w, "\nkept in:    %s\nreplay:     heddle replay%s %s\n", out.Trace, flag, quoted(out.Trace))
	if f.Kind == trace.Race.String() && !out.Changed {
		fmt.Fprintf(w, "Go's words: heddle replay --race-report %s\n", quoted(out.Trace))
	}
	_, err := fmt.Fprintln(w)
	return err
}

// sums are a test's figures.
func (out *testResult) sums() string {
	parts := []string{fmt.Sprintf("%.2fs", out.Seconds)}
	switch {
	case out.Known:
		parts = append(parts, "kept schedule")
	case out.Outcome == "unfinished":
		parts = append(parts, "no execution ended")
	case out.Sequential:
		parts = append(parts, "one goroutine only")
	default:
		parts = append(parts, count(out.Executions, "execution"), count(out.Behaviours, "behaviour"))
	}
	return strings.Join(parts, ", ")
}

// printPackage prints a package's line in the form of go test.
func (s *suite) printPackage(r *packageJSON) error {
	a := s.app
	if a.JSON {
		return a.printLine(r)
	}
	var line string
	switch r.Outcome {
	case "no tests":
		line = fmt.Sprintf("?   \t%s\t[no test files]", r.Package)
	case "setup failed", "build failed":
		line = fmt.Sprintf("FAIL\t%s [%s]", r.Package, r.Outcome)
	case "clean":
		line = fmt.Sprintf("ok  \t%s\t%.3fs", r.Package, r.Seconds)
		if r.Tests == 0 {
			line += " [no tests to run]"
		}
	case "unfinished":
		line = fmt.Sprintf("FAIL\t%s\t%.3fs", r.Package, r.Seconds)
		if s.command.AllowUnfinished {
			line = "ok  " + strings.TrimPrefix(line, "FAIL")
		}
	case "interrupted":
		line = fmt.Sprintf("STOP\t%s\t%.3fs", r.Package, r.Seconds)
	default:
		line = fmt.Sprintf("FAIL\t%s\t%.3fs", r.Package, r.Seconds)
		if r.Tests == 0 && r.Error != "" {
			fmt.Fprintf(a.stderr, "heddle: %s: %s\n", r.Package, r.Error)
		}
	}
	if r.Unfinished > 0 {
		line += fmt.Sprintf(" [%s unfinished]", count(r.Unfinished, "test"))
	}
	_, err := fmt.Fprintln(a.stdout, line)
	return err
}
