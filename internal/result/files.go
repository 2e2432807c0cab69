package result

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report/github"
	"github.com/heddle-dev/heddle/internal/report/junit"
	"github.com/heddle-dev/heddle/internal/report/sarif"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Files are files with results for continuous integration. They always say how far heddle has come:
// Begin writes them before the work, so that a heddle that is killed leaves an error, and no earlier
type Files struct {
	JUnit, SARIF string // names; empty for none
	Version      string // heddle's
	Root         string // directory to which source files are relative
	Annotations  Annotations

	suites   []junit.Suite
	results  []sarif.Result
	problems []string
}

// Annotations are lines that a service for continuous integration shows beside the source (internal/report/github).
type Annotations struct {
	To   io.Writer // nil for none
	Root string    // the repository
}

// write writes the results and problems of a command.
func (a Annotations) write(results []sarif.Result, problems []string) error {
	if a.To == nil {
		return nil
	}
	var all []github.Annotation
	for i := range results {
		r := &results[i]
		if r.Suppressed != "" {
			continue
		}
		text := []string{r.Message}
		text = append(text, r.Notes...)
		if r.Where.File == "" && r.Where.Message != "" {
			text[0] += " at " + r.Where.Message
		}
		if trace := r.Properties["trace"]; trace != "" {
			text = append(text, "replay: heddle replay "+wording.Quoted(trace))
		}
		all = append(all, github.Annotation{File: r.Where.File, Line: r.Where.Line, Title: "heddle: " + strings.ReplaceAll(r.Rule, "-", " "), Text: strings.Join(text, "\n")})
	}
	for _, p := range problems {
		all = append(all, github.Annotation{Title: "heddle: no result", Text: p})
	}
	return github.Write(a.To, a.Root, all)
}

// Begin checks that the files can be written, and says in them that no result exists yet. name is
// of the program or tests.
func (f *Files) Begin(name string) error {
	for _, file := range []string{f.JUnit, f.SARIF} {
		if file == "" {
			continue
		}
		if err := tracefile.Writable(file); err != nil {
			return err
		}
	}
	if f.JUnit != "" && f.SARIF != "" && filepath.Clean(f.JUnit) == filepath.Clean(f.SARIF) {
		return usage.Errorf("--junit and --sarif name one file, %s: give each its own", f.JUnit)
	}
	const why = "heddle was stopped before it had a result: nothing is known"
	first := Files{JUnit: f.JUnit, SARIF: f.SARIF, Version: f.Version, Root: f.Root}
	first.problem(name, name, 0, Interrupted, why)
	return first.Write()
}

// wanted reports whether there is a file to write.
func (f *Files) wanted() bool { return f.JUnit != "" || f.SARIF != "" || f.Annotations.To != nil }

// Write writes the files and annotations.
func (f *Files) Write() error {
	if err := f.Annotations.write(f.results, f.problems); err != nil {
		return err
	}
	if f.JUnit != "" {
		if err := tracefile.WriteWhole(f.JUnit, func(w io.Writer) error { return junit.Write(w, f.suites) }); err != nil {
			return err
		}
	}
	if f.SARIF == "" {
		return nil
	}
	tool := sarif.Tool{Name: "heddle", Version: f.Version, URL: "https://github.com/heddle-dev/heddle", Rules: map[string]string{}, Problems: f.problems}
	for _, r := range f.results {
		tool.Rules[r.Rule] = "An execution that ends with: " + strings.ReplaceAll(r.Rule, "-", " ")
	}
	return tracefile.WriteWhole(f.SARIF, func(w io.Writer) error { return sarif.Write(w, tool, f.Root, f.results) })
}

// Find adds the result of a search for a program's bugs, nil if none could begin; err is the error with
// which heddle ends, nil for a finding. name is the program's, command its command line.
func (f *Files) Find(name, command string, r *engine.Report, err error) {
	if !f.wanted() {
		return
	}
	if r == nil {
		f.problem(name, command, 0, Failed, err.Error())
		return
	}
	found := r.Findings
	if len(found) == 0 && r.Finding != nil {
		found = []engine.Found{{Finding: r.Finding, Simplified: r.Simplified}}
	}
	for i := range found {
		d := foundOf(&found[i])
		trace := d.Trace
		if d.Simplified != nil {
			trace = cmp.Or(d.Simplified.Trace, trace)
		}
		f.finding(name, command, r.Seconds, &d, trace)
	}
	switch {
	case err != nil:
		f.problem(name, command, r.Seconds, Of(r).Outcome, err.Error())
	case len(found) == 0:
		f.add(name, junit.Case{Name: command, Seconds: r.Seconds})
	}
}

// Test adds the result of a test. accepted says that the user accepts one of which nothing is known.
func (f *Files) Test(out *Test, accepted bool) {
	if !f.wanted() {
		return
	}
	each := out.Each()
	for _, one := range each {
		d := Distinct{Finding: one.Finding, Shown: one.Shown}
		f.finding(out.Package, out.Test, out.Seconds, &d, one.Trace)
	}
	why := cmp.Or(out.Error, strings.Join(out.Notes, "; "))
	switch out.Outcome {
	case Found:
		if out.Error != "" {
			f.problems = append(f.problems, out.Package+" "+out.Test+": "+out.Error)
		}
	case Clean:
		c := junit.Case{Name: out.Test, Seconds: out.Seconds}
		if out.SkippedAlways() {
			c.Skipped = &junit.Problem{Message: "the test skipped itself"}
		}
		f.add(out.Package, c)
	case Unfinished, Ignored:
		if accepted {
			f.add(out.Package, junit.Case{Name: out.Test, Seconds: out.Seconds, Skipped: &junit.Problem{Message: cmp.Or(why, out.Outcome)}})
			return
		}
		fallthrough
	default:
		f.problem(out.Package, out.Test, out.Seconds, out.Outcome, cmp.Or(why, "nothing is known about the test"))
	}
}

// Package adds a package of which no test could be run.
func (f *Files) Package(r *Package) {
	if f.wanted() && r.Error != "" {
		f.problem(r.Package, r.Package, r.Seconds, r.Outcome, r.Error)
	}
}

// Interrupted adds that heddle did not come to the end of its work.
func (f *Files) Interrupted(err error) {
	if f.wanted() {
		f.problem("heddle", "heddle", 0, Interrupted, err.Error())
	}
}

// finding adds a failure.
func (f *Files) finding(suite, name string, seconds float64, d *Distinct, trace string) {
	x, text := d.Finding, &bytes.Buffer{}
	r := sarif.Result{
		Rule: ruleOf(x.Kind), Level: sarif.Error, Message: x.Headline(), Key: x.Key,
		Where: sarif.Place{Message: x.Where}, Properties: map[string]string{"program": name},
	}
	if strings.Contains(suite, "/") { // a package and its test
		r.Properties["program"] = suite + " " + name
	}
	said := x.Said()
	if said != "" {
		r.Notes = append(r.Notes, "why: "+said)
	}
	if d.Shown != nil {
		v := ShortView(d.Shown, nil)
		locate(&r, v)
		v.Why = nil                                                       // below, in one line
		_ = term.Render(text, v, term.Options{Width: 100, Unicode: true}) // the buffer has no errors
	}
	if said != "" {
		text.WriteString("\nwhy: " + said + "\n")
	}
	if trace != "" {
		r.Properties["trace"] = trace
		text.WriteString("\nreplay: heddle replay " + trace + "\n")
	}
	f.results = append(f.results, r)
	message := x.Headline()
	if x.Where != "" {
		message += " at " + x.Where
	}
	f.add(suite, junit.Case{Name: name, Seconds: seconds, Failure: &junit.Problem{Type: x.Kind, Message: message, Text: text.String()}})
}

// problem adds that nothing is known of something, and why.
func (f *Files) problem(suite, name string, seconds float64, kind, why string) {
	f.problems = append(f.problems, name+": "+why)
	f.add(suite, junit.Case{Name: name, Seconds: seconds, Error: &junit.Problem{Type: kind, Message: why}})
}

// add adds a case to its suite.
func (f *Files) add(suite string, c junit.Case) {
	i := slices.IndexFunc(f.suites, func(s junit.Suite) bool { return s.Name == suite })
	if i < 0 {
		i = len(f.suites)
		f.suites = append(f.suites, junit.Suite{Name: suite, Began: time.Now().Add(-time.Duration(c.Seconds * float64(time.Second)))})
	}
	f.suites[i].Cases = append(f.suites[i].Cases, c)
}
