package result

import (
	"bytes"
	"math"
	"strings"
	"time"
)

// GoEvent is an event of go test -json, as cmd/test2json documents it.
type GoEvent struct {
	Time        *time.Time `json:",omitempty"`
	ImportPath  string     `json:",omitempty"` // of what was built
	Action      string
	Package     string   `json:",omitempty"`
	Test        string   `json:",omitempty"`
	Elapsed     *float64 `json:",omitempty"` // seconds
	Output      *string  `json:",omitempty"`
	FailedBuild string   `json:",omitempty"`
}

// GoEvents prints the results of heddle test as the events of go test -json. Of a test that heddle explored, its output
// is the report.
type GoEvents struct {
	Print    func(any) error // prints one value on a line
	Printer  *Printer        // how reports are drawn; where they go is replaced
	Accepted bool            // tests of which nothing is known are skipped, and not failures

	pkg string
	err error // the first of Print
}

// Start is called before a package.
func (g *GoEvents) Start(pkg string) error {
	g.pkg = pkg
	g.emit(GoEvent{Action: "start", Package: pkg})
	return g.err
}

// Begin is called before a test of the package.
func (g *GoEvents) Begin(test string) {
	g.emit(GoEvent{Action: "run", Package: g.pkg, Test: test})
	g.output(test, "=== RUN   "+test+"\n")
}

// Test prints the report and the end of a test.
func (g *GoEvents) Test(out *Test) error {
	text, err := g.text(func(p *Printer) error { return p.Test(out) })
	if err != nil {
		return err
	}
	// go test prints the verdict after what the test wrote.
	verdict, report, _ := strings.Cut(text, "\n")
	g.output(out.Test, report)
	g.output(out.Test, verdict+"\n")
	action := g.action(out.Outcome)
	if out.SkippedAlways() {
		action = "skip"
	}
	g.emit(GoEvent{Action: action, Package: g.pkg, Test: out.Test, Elapsed: rounded(out.Seconds, 100)})
	return g.err
}

// Package prints the end of a package.
func (g *GoEvents) Package(r *Package) error {
	text, err := g.text(func(p *Printer) error { return p.Package(r) })
	if err != nil {
		return err
	}
	end := GoEvent{Action: g.action(r.Outcome), Package: r.Package, Elapsed: rounded(r.Seconds, 1000)}
	if r.Outcome == SetupFailed || r.Outcome == BuildFailed {
		end.FailedBuild = g.build(r)
	}
	if r.Tests > 0 && end.Action != "skip" { // what a test binary prints at its end
		g.output("", strings.ToUpper(end.Action)+"\n")
	}
	g.output("", text)
	g.emit(end)
	return g.err
}

// build prints what the go command wrote in a build that failed, and returns what did not build. The output of each
// package follows a line with its name.
func (g *GoEvents) build(r *Package) (failed string) {
	path := r.Package
	var all []string
	for line := range strings.Lines(r.BuildOutput) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			path = strings.TrimSpace(name)
		}
		if len(all) == 0 || all[len(all)-1] != path {
			all = append(all, path)
		}
		g.emit(GoEvent{Action: "build-output", ImportPath: path, Output: &line, Time: new(time.Time)})
	}
	for _, path := range all {
		g.emit(GoEvent{Action: "build-fail", ImportPath: path, Time: new(time.Time)})
	}
	return path
}

// action returns how go test tells an outcome.
func (g *GoEvents) action(outcome string) string {
	switch outcome {
	case Clean, Listed, Built:
		return "pass"
	case NoTests:
		return "skip"
	case Unfinished, Ignored:
		if g.Accepted {
			return "skip"
		}
	}
	return "fail"
}

// text returns what the printer prints.
func (g *GoEvents) text(print func(*Printer) error) (string, error) {
	var b bytes.Buffer
	p := *g.Printer
	p.Words, p.Errors, p.Screen = &b, &b, &b
	err := print(&p)
	return b.String(), err
}

// output prints text, an event for each line; of the package if test is empty.
func (g *GoEvents) output(test, text string) {
	for line := range strings.Lines(text) {
		g.emit(GoEvent{Action: "output", Package: g.pkg, Test: test, Output: &line})
	}
}

// emit prints an event, with the time unless it is the zero time, as in the events of builds.
func (g *GoEvents) emit(e GoEvent) {
	switch {
	case e.Time == nil:
		now := time.Now()
		e.Time = &now
	case e.Time.IsZero():
		e.Time = nil
	}
	if g.err == nil {
		g.err = g.Print(e)
	}
}

// rounded returns seconds rounded to a part of one.
func rounded(seconds, parts float64) *float64 {
	s := math.Round(seconds*parts) / parts
	return &s
}
