package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/trace"
)

// suite is a heddle test under way.
type suite struct {
	app     *app
	command *testCommand
	builder *goBuilder
	options engine.Options
	filter  *gotool.Filter
	dir     string // where heddle was called
	// binaries are the packages' test binaries, each built when it is asked for first.
	binaries []func() (string, error)
	building sync.WaitGroup // in the background

	// left are the go statements whose goroutines tests of the package left behind, each with
	// the names of the tests.
	left map[string][]string

	found      int // bugs
	failed     int // packages and tests that heddle could not run
	unfinished int // tests of which no execution ended
	leaks      int // go statements whose goroutines were left
	findings   []*testResult
}

// run does the packages, one after the other; while the tests of one are explored the next
// is built.
func (s *suite) run(packages []gotool.Package) error {
	ctx, cancel := context.WithCancel(s.app.ctx)
	defer s.building.Wait()
	defer cancel()
	for _, p := range packages {
		s.binaries = append(s.binaries, sync.OnceValues(func() (string, error) {
			return s.builder.build(ctx, true, &s.command.goFlags, s.what(p))
		}))
	}
	for i, p := range packages {
		if err := s.pkg(i, p); err != nil {
			return err
		}
		if s.command.Failfast && s.found > 0 {
			return nil
		}
	}
	return nil
}

// what is how the go command calls a package: a list of .go files is one, too.
func (s *suite) what(p gotool.Package) []string {
	if p.ImportPath == "command-line-arguments" {
		return s.command.Packages
	}
	return []string{p.ImportPath}
}

// binary is a package's test binary. The next one is built from now on.
func (s *suite) binary(i int, p gotool.Package) (string, error) {
	progress := s.app.progress()
	progress.begin(fmt.Sprintf("build: %s", p.ImportPath))
	defer progress.done()
	binary, err := s.binaries[i]()
	if i+1 < len(s.binaries) {
		s.building.Go(func() { _, _ = s.binaries[i+1]() })
	}
	return binary, err
}

// pkg does one package. The error ends everything.
func (s *suite) pkg(i int, p gotool.Package) error {
	began := time.Now()
	r := packageJSON{Package: p.ImportPath}
	err := s.tests(i, p, &r)
	if cerr := s.app.ctx.Err(); cerr != nil {
		if r.Found == 0 {
			r.Outcome = "interrupted"
		}
		err = cerr
	}
	r.Seconds = time.Since(began).Seconds()
	if perr := s.printPackage(&r); perr != nil {
		return perr
	}
	return err
}

// tests builds a package and does its tests. What is wrong with the package alone is said
// in r.
func (s *suite) tests(i int, p gotool.Package, r *packageJSON) error {
	a, c := s.app, s.command
	broken := func(outcome string, err error) error {
		s.failed++
		r.Outcome, r.Error = outcome, err.Error()
		return nil
	}
	switch {
	case p.Err != "":
		fmt.Fprintf(a.stderr, "# %s\n%s\n", p.ImportPath, p.Err)
		return broken("setup failed", errors.New(p.Err))
	case !p.Tests:
		r.Outcome = "no tests"
		return nil
	}
	what := s.what(p)
	binary, err := s.binary(i, p)
	if err != nil {
		return broken("build failed", a.buildFailed(err))
	}
	plain := gotool.Binary{Path: binary, Dir: p.Dir, Args: c.binaryArgs()}
	names, err := plain.Tests(a.ctx)
	if err != nil {
		return broken("failed", err)
	}
	r.Outcome = "clean"
	s.left = map[string][]string{}
	if hasOldKept(p.Dir) {
		fmt.Fprintf(a.stderr, "heddle: note: %s: kept findings are in %s, where tests that walk testdata read them: the next finding moves them to %s\n", p.ImportPath, oldKeptDir, keptDir)
	}
	for _, name := range names {
		run, ok := s.filter.Select(name)
		if !ok {
			continue
		}
		units := []unit{{pkg: p, what: what, binary: binary, name: name, run: run}}
		if c.Subtests {
			subtests, err := plain.Subtests(a.ctx, name, run)
			if err != nil {
				return broken("failed", err)
			}
			for _, sub := range subtests {
				units = append(units, unit{pkg: p, what: what, binary: binary, name: sub, run: gotool.Only(sub)})
			}
		}
		for _, u := range units {
			if err := s.unit(u, r); err != nil || c.Failfast && r.Found > 0 {
				return err
			}
		}
	}
	return nil
}

// unit is a test that is explored alone.
type unit struct {
	pkg    gotool.Package
	what   []string // to build
	binary string
	name   string // full name: a subtest's has slashes
	run    string // -test.run
}

// unit does one test and adds it to its package's sums.
func (s *suite) unit(u unit, r *packageJSON) error {
	a := s.app
	if s.command.V && !a.JSON {
		fmt.Fprintf(a.stdout, "=== RUN   %s\n", u.name)
	}
	began := time.Now()
	out := &testResult{testJSON: testJSON{Package: u.pkg.ImportPath, Test: u.name}}
	err := s.explore(u, out)
	if cerr := a.ctx.Err(); cerr != nil {
		if out.Outcome != "found" {
			out.Outcome = "interrupted"
		}
		err = cerr
	} else if err != nil {
		// It says nothing about the other tests.
		s.failed++
		r.worsen("failed")
		if out.Outcome != "found" {
			out.Outcome = "failed"
		}
		out.Error = sentence(err)
		err = nil
	} else if out.unfinished() {
		s.unfinished++
		r.Unfinished++
		r.worsen("unfinished")
		out.Outcome = "unfinished"
		out.Notes = append(out.Notes, fmt.Sprintf("no execution ended within %s: use a longer -timeout, or -short if the test knows it", s.command.Timeout))
	}
	out.Seconds = time.Since(began).Seconds()
	r.Tests++
	r.Executions += out.Executions
	if out.Outcome == "found" {
		s.found++
		r.Found++
		r.worsen("found")
		s.findings = append(s.findings, out)
	}
	s.countLeaks(out, r)
	if perr := s.printTest(out); perr != nil {
		return perr
	}
	return err
}

// explore tries what was found before, and then looks for something new.
func (s *suite) explore(u unit, out *testResult) error {
	a, c := s.app, s.command
	started, err := goPrograms.start(a.ctx, a.bounded(c.config(u.binary, u.pkg.Dir, u.run)))
	if err != nil {
		return err
	}
	t := &built{started, c.words(u.what, u.run), s.dir, a.sign}
	defer t.Close()
	k := keptOf(s.builder.cache, u)
	again, err := s.retry(t, k, u, out)
	if again.finding() && !again.leak() || err != nil {
		out.takeKept(s, t, again)
		return err
	}
	opts := s.options
	opts.Where = placeNames(t)
	if c.leaks() == leaksFail && !again.finding() {
		// Once for each go statement of the package.
		opts.LeakFails = func(l engine.Leak) bool { return s.left[l.Created] == nil }
	}
	p := a.progress()
	p.subject = u.name
	report, err := engine.Find(a.ctx, t, opts, p.find)
	p.done()
	out.take(report)
	if report.Finding == nil {
		if again.finding() {
			out.takeKept(s, t, again)
			return err
		}
		if err == nil {
			err = s.settle(again.fixed, out)
		}
		return err
	}
	out.shown = report.Finding.Recorded
	if sim := report.Simplified; sim != nil {
		out.shown = sim.Recorded
	}
	if out.shown == nil {
		return err
	}
	name, note, werr := k.keep(out.shown)
	if note != "" {
		out.note("%s", note)
	}
	if werr != nil {
		return errors.Join(werr, err)
	}
	out.Trace = s.short(name)
	if out.Simplified != nil {
		out.Simplified.Trace = out.Trace
	}
	return err
}

// short is a file's name as the user would write it.
func (s *suite) short(name string) string {
	if rel, err := filepath.Rel(s.dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// testResult is the result of one test.
type testResult struct {
	testJSON
	report *engine.Report // nil where a kept schedule failed again
	shown  *trace.Trace   // of the finding
}

// unfinished reports whether no execution of the test ended in time.
func (out *testResult) unfinished() bool {
	return out.report != nil && out.report.Finding == nil && out.Outcome != "found" && out.report.Executions == 0 && !out.report.Sequential
}

func (out *testResult) take(r *engine.Report) {
	found := findResult(r)
	out.report = r
	out.Outcome, out.Behaviours, out.Points = found.Outcome, found.Behaviours, found.Points
	out.Executions += found.Executions
	out.RacesIncomplete = found.RacesIncomplete
	if out.Sequential = r.Sequential; !r.Sequential {
		out.Notes = append(out.Notes, found.Notes...) // else there is but that one
	}
	out.Finding, out.Simplified = found.Finding, found.Simplified
	for _, l := range r.Leaks {
		out.Leaks = append(out.Leaks, leakJSON{Created: l.Created, Op: l.Op, Where: l.Where, Running: l.Running, Executions: l.Executions})
	}
}
