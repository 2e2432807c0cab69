package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/heddle-dev/heddle/internal/campaign"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/trace"
)

// suite is a heddle test under way.
type suite struct {
	app     *app
	command *testCommand
	builder *goBuilder
	options campaign.Options
	filter  *gotool.Filter
	dir     string // where heddle was called

	found  int // bugs
	failed int // packages and tests that heddle could not run
}

// pkg does one package. The error ends everything.
func (s *suite) pkg(p gotool.Package) error {
	began := time.Now()
	r := packageJSON{Package: p.ImportPath}
	err := s.tests(p, &r)
	if cerr := s.app.ctx.Err(); cerr != nil {
		r.Outcome = "interrupted"
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
func (s *suite) tests(p gotool.Package, r *packageJSON) error {
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
	what := []string{p.ImportPath}
	if p.ImportPath == "command-line-arguments" {
		what = c.Packages // .go files
	}
	progress := a.progress()
	progress.line(fmt.Sprintf("build: %s", p.ImportPath))
	binary, err := s.builder.build(a.ctx, true, &c.goFlags, what)
	progress.done()
	if err != nil {
		return broken("build failed", a.buildFailed(err))
	}
	plain := gotool.Binary{Path: binary, Dir: p.Dir, Args: c.binaryArgs()}
	names, err := plain.Tests(a.ctx)
	if err != nil {
		return broken("failed", err)
	}
	r.Outcome = "clean"
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

// unit is a test that is explored by itself.
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
		r.Outcome = "failed"
		if out.Outcome != "found" {
			out.Outcome = "failed"
		}
		out.Error = sentence(err)
		err = nil
	}
	out.Seconds = time.Since(began).Seconds()
	r.Tests++
	r.Executions += out.Executions
	if out.Outcome == "found" {
		s.found++
		r.Found++
		r.Outcome = "found"
	}
	if perr := s.printTest(out); perr != nil {
		return perr
	}
	return err
}

// explore tries what was found before, and then looks for something new.
func (s *suite) explore(u unit, out *testResult) error {
	a, c := s.app, s.command
	started, err := goPrograms.start(a.ctx, c.config(u.binary, u.pkg.Dir, u.run))
	if err != nil {
		return err
	}
	t := &built{started, c.words(u.what, u.run), s.dir}
	defer t.Close()
	k := keptOf(s.builder.cache, u)
	again, fixed, err := s.retry(t, k, u, out)
	if again || err != nil {
		return err
	}
	opts := s.options
	opts.Where = placeNames(t)
	p := a.progress()
	p.subject = u.name
	report, err := campaign.Find(a.ctx, t, opts, p.find)
	p.done()
	out.take(report)
	if report.Finding != nil {
		out.shown = report.Finding.Recorded
		if sim := report.Simplified; sim != nil {
			out.shown = sim.Recorded
		}
	}
	if out.shown != nil {
		name, werr := k.keep(out.shown)
		if werr != nil {
			return errors.Join(werr, err)
		}
		out.Trace = s.short(name)
		if out.Simplified != nil {
			out.Simplified.Trace = out.Trace
		}
	}
	if err == nil && report.Finding == nil {
		err = s.settle(fixed, out)
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

// testResult is what came of one test.
type testResult struct {
	testJSON
	report *campaign.Report // nil where a kept schedule failed again
	shown  *trace.Trace     // of the finding
	again  bool             // the finding was known
}

func (out *testResult) take(r *campaign.Report) {
	found := findResult(r)
	out.report = r
	out.Outcome, out.Behaviours, out.Points = found.Outcome, found.Behaviours, found.Points
	out.Executions += found.Executions
	if out.Sequential = r.Sequential; !r.Sequential {
		out.Notes = append(out.Notes, found.Notes...) // else there is but that one
	}
	out.Finding, out.Simplified = found.Finding, found.Simplified
}
