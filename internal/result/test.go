package result

import (
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/trace"
)

// Test is the line that heddle test prints for a test.
type Test struct {
	Package string `json:"package"`
	Test    string `json:"test"`
	Search
	Sequential bool `json:"sequential,omitempty"`
	// Stuck says what each goroutine did, and where, when the time limit ended the process before its first execution was over.
	Stuck []string `json:"stuck,omitempty"`
	Notes []string `json:"notes,omitempty"`
	Leaks []Leak   `json:"leaks,omitempty"`
	// Skipped is how many executions the test ended by skipping what it had left to do.
	Skipped int `json:"skipped,omitempty"`
	// Early are failures that need a timer to fire early.
	Early []engine.Early `json:"early,omitempty"`
	Aside
	Finding    *Finding    `json:"finding,omitempty"`
	Known      bool        `json:"known,omitempty"`
	Changed    bool        `json:"changed,omitempty"`
	Trace      string      `json:"trace,omitempty"`
	Simplified *Simplified `json:"simplified,omitempty"`
	Fixed      []string    `json:"fixed,omitempty"`
	Error      string      `json:"error,omitempty"`

	Report *engine.Report `json:"-"` // nil if a kept schedule failed again
	Shown  *trace.Trace   `json:"-"` // of the finding
}

// SkippedAlways reports whether the test was skipped in every execution.
func (out *Test) SkippedAlways() bool {
	return out.Outcome == Clean && out.Skipped > 0 && out.Skipped == out.Executions
}

// Each returns the findings of a test as one Test each; none without a finding.
func (out *Test) Each() []*Test {
	if len(out.Findings) == 0 {
		if out.Finding == nil {
			return nil
		}
		return []*Test{out}
	}
	var all []*Test
	for _, f := range out.Findings {
		one := *out
		one.Finding, one.Known, one.Changed, one.Trace, one.Simplified, one.Shown = f.Finding, f.Known, f.Changed, f.Trace, f.Simplified, f.Shown
		one.Report = nil
		if f.Report != nil {
			one.Report = &engine.Report{Finding: f.Report.Finding, Simplified: f.Report.Simplified}
		}
		all = append(all, &one)
	}
	return all
}

// Package is the line for a package, after those of its tests.
type Package struct {
	Package string  `json:"package"`
	Outcome string  `json:"outcome"` // found, clean, unfinished, ignored, interrupted, no tests, listed, setup failed, build failed, failed
	Seconds float64 `json:"seconds"`
	Tests   int     `json:"tests"`
	Found   int     `json:"found"`
	// Unfinished counts the tests without an execution that ended in time.
	Unfinished int `json:"unfinished,omitempty"`
	// Ignored counts the tests of which every execution ended in an ignored finding.
	Ignored int `json:"ignored,omitempty"`
	// Skipped counts the tests that were skipped in every execution.
	Skipped int           `json:"skipped,omitempty"`
	Leaks   []PackageLeak `json:"leaks,omitempty"`
	// Executions of all tests.
	Executions int    `json:"executions"`
	Error      string `json:"error,omitempty"`
	// Listed are the names that -list selects, as the test binary lists them.
	Listed []string `json:"listed,omitempty"`

	// Coverage is the share of statements that some execution of a test reached, in percent; nil if it was not measured.
	Coverage *float64 `json:"statements_covered,omitempty"`
	Binary   string   `json:"binary,omitempty"` // the file in which the test binary was kept

	CoverageLine string `json:"-"` // as go test prints it
	Listing      string `json:"-"` // what the test binary printed for -list
	BuildOutput  string `json:"-"` // what the go command printed where the package could not be loaded or built
}

// Leak is a goroutine that a test leaked; see docs/json.md.
type Leak struct {
	Created    string     `json:"created"`
	Statement  trace.Site `json:"-"` // identifies the go statement in the test binary
	Op         string     `json:"op"`
	Where      string     `json:"where"`
	Running    bool       `json:"running,omitempty"`
	Executions int        `json:"executions"`
	// Kept says that it may be kept on purpose: something that goes on leads to what it waits for, or it goes on itself.
	Kept bool `json:"kept,omitempty"`
	// Partners say which goroutines used what it waits for and how they ended, and whether anything leads to that.
	Partners []string `json:"partners,omitempty"`
	// Known says that an earlier test of the package leaked one from this go statement.
	Known bool `json:"known,omitempty"`
}

// PackageLeak is a go statement whose goroutines tests of a package leaked.
type PackageLeak struct {
	Created string   `json:"created"`
	Tests   []string `json:"tests"`
}
