// Package gotest explores the tests of Go packages, each alone, in the order of go test. Findings
// are kept, and replayed first in the next run.
package gotest

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/kept"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Options select the tests and configure their exploration.
type Options struct {
	Recipe   trace.Recipe   // for all tests; its packages are patterns, and its Run may be empty
	Explore  engine.Options // for each test
	How      launch.How
	Outputs  launch.Outputs // judge what each test writes
	Dir      string         // directory to which the package patterns are relative
	Subtests bool           // explore each subtest alone, too
	Failfast bool           // stop after the first test that fails
	Prune    bool           // remove kept findings that no longer fail
	Corpus   string         // directory for findings in place of the packages'; empty for those
	// Processes is how many processes run executions of a test at once; 0 means 1. The first
	// finding does not depend on it, unless executions depend on earlier ones in their process.
	Processes int
	NoExplain bool    // leave out why a test fails
	List      *string // list the names that match in place of exploring tests; nil to explore them
	Cover     *Cover  // measure coverage; nil not to
	Fuzz      *Fuzz   // explore each input of fuzz targets alone; nil to explore them as tests
	Compile   bool    // only build the test binaries, and keep them
	Output    string  // file or directory for the test binaries
	Shuffle   *int64  // the seed of the order in which the tests of a package are explored; nil for that of go test
}

// Events are notified of progress. An error that one of the methods returns ends the run.
type Events interface {
	// Start is called before a package.
	Start(pkg string) error
	// Building is called when the run waits for a package's test binary.
	Building(pkg string) (done func())
	// Begin is called before a test is explored.
	Begin(test string)
	// Exploring is called before a search; progress is called with its progress, until done is.
	Exploring(test string, t target.Target) (progress func(engine.Progress), done func())
	// Test is called with the result of each test, Package after those of a package.
	Test(*result.Test) error
	Package(*result.Package) error
}

// Run explores the tests that the options select. It returns the totals even with an error.
func Run(ctx context.Context, l *launch.Launcher, opts Options, events Events) (*result.Totals, error) {
	totals := new(result.Totals)
	filter, err := gotool.NewFilter(opts.Recipe.Run, opts.Recipe.Skip)
	if err != nil {
		return totals, usage.Wrap(err)
	}
	b, err := l.Builder(ctx, opts.Dir, nil, patch.Options{})
	if err != nil {
		return totals, err
	}
	packages, err := b.List(ctx, opts.Recipe.Flags, opts.Recipe.Packages)
	if err != nil {
		return totals, err
	}
	s := &suite{launcher: l, builder: b, options: opts, events: events, filter: filter, totals: totals}
	return totals, s.run(ctx, packages)
}

// suite is a Run in progress.
type suite struct {
	launcher *launch.Launcher
	builder  *launch.Builder
	options  Options
	events   Events
	filter   *gotool.Filter
	// binaries return the packages' test binaries; each is built on the first call.
	binaries []func() (string, error)
	building sync.WaitGroup // builds in the background

	left    map[trace.Site]*left
	inOrder []*left

	passed map[string]int // executions that showed the findings of --ignore, by key

	ignored map[string]bool // names of --leak-ignore: whether a function has that name

	fuzzed bool // some fuzz target matched

	profile strings.Builder   // of coverage, of all packages
	files   map[string]string // in which test binaries are kept, by import path

	totals *result.Totals
}

// run explores the packages, one after the other; while it explores the tests of one, it builds the
// next.
func (s *suite) run(ctx context.Context, packages []gotool.Package) error {
	var err error
	if s.files, err = s.outputs(packages); err != nil {
		return err
	}
	background, cancel := context.WithCancel(ctx)
	defer s.building.Wait()
	defer cancel()
	for _, p := range packages {
		s.binaries = append(s.binaries, sync.OnceValues(func() (string, error) {
			return s.builder.Build(background, s.recipe(p, ""))
		}))
	}
	for i, p := range packages {
		if err := s.pkg(ctx, i, p); err != nil {
			return err
		}
		if s.options.Failfast && s.totals.Found > 0 {
			return s.writeProfile()
		}
	}
	if s.options.Fuzz != nil && !s.fuzzed && s.options.List == nil && !s.options.Compile {
		s.launcher.Note("-fuzz has no effect: no fuzz target matches")
	}
	if s.options.Explore.Runs == 1 && s.options.List == nil && !s.options.Compile {
		s.launcher.Note("-count=1 executes each test once, so no other schedule is tried: leave it out to explore (heddle test caches no results)")
	}
	s.noteIgnored()
	s.notePassed()
	return s.writeProfile()
}

// recipe returns the recipe of those tests of a package that run selects.
func (s *suite) recipe(p gotool.Package, run string) *trace.Recipe {
	r := s.options.Recipe
	r.Run = run
	if p.ImportPath != "command-line-arguments" { // otherwise it is a list of .go files
		r.Packages = []string{p.ImportPath}
	}
	return &r
}

// binary returns a package's test binary and starts to build the next one.
func (s *suite) binary(i int, p gotool.Package) (string, error) {
	defer s.events.Building(p.ImportPath)()
	binary, err := s.binaries[i]()
	if i+1 < len(s.binaries) {
		s.building.Go(func() { _, _ = s.binaries[i+1]() })
	}
	return binary, err
}

// pkg explores one package. An error ends the run.
func (s *suite) pkg(ctx context.Context, i int, p gotool.Package) error {
	began := time.Now()
	r := result.Package{Package: p.ImportPath}
	if err := s.events.Start(p.ImportPath); err != nil {
		return err
	}
	err := s.tests(ctx, i, p, &r)
	if cerr := ctx.Err(); cerr != nil {
		if r.Found == 0 {
			r.Outcome = result.Interrupted
		}
		err = cerr
	}
	r.Seconds = time.Since(began).Seconds()
	if perr := s.events.Package(&r); perr != nil {
		return perr
	}
	return err
}

// listing is how long a test binary may take to say what tests it has, which is before anything is explored: as long as the
// exploration of a test, but no less than a process takes to start on a busy machine. 0 is for no limit of the user's.
func (s *suite) listing() time.Duration {
	const atLeast = 2 * time.Second
	if s.options.Explore.Time == 0 {
		return 0
	}
	return max(s.options.Explore.Time, atLeast)
}

// tests builds a package and explores its tests. An error that concerns only this package goes into
// r.
func (s *suite) tests(ctx context.Context, i int, p gotool.Package, r *result.Package) error {
	broken := func(outcome string, err error) error {
		s.totals.Failed++
		r.Outcome, r.Error = outcome, err.Error()
		why := outcome
		if outcome == result.Failed {
			why, _, _ = strings.Cut(r.Error, "\n")
		}
		s.totals.Unexplored = append(s.totals.Unexplored, result.Unexplored{Package: p.ImportPath, Why: why})
		return nil
	}
	switch {
	case p.Err != "":
		r.BuildOutput = fmt.Sprintf("# %s\n%s\n", p.ImportPath, p.Err)
		fmt.Fprint(s.launcher.Output, r.BuildOutput)
		return broken(result.SetupFailed, errors.New(p.Err))
	case !p.Tests:
		r.Outcome = result.NoTests
		return nil
	}
	binary, err := s.binary(i, p)
	if err != nil {
		outcome := result.BuildFailed
		if failed := (*gotool.BuildError)(nil); errors.As(err, &failed) {
			r.BuildOutput = failed.Output
			if failed.Setup {
				outcome = result.SetupFailed
			}
		}
		return broken(outcome, err)
	}
	if to := s.files[p.ImportPath]; to != "" {
		if err := keepBinary(binary, to); err != nil {
			return broken(result.Failed, err)
		}
		r.Binary = s.short(to)
	}
	if s.options.Compile {
		r.Outcome = result.Built
		return nil
	}
	if s.options.List != nil {
		return s.list(ctx, binary, p, r, broken)
	}
	if err := s.findIgnored(binary); err != nil {
		return broken(result.Failed, err)
	}
	plain := gotool.Binary{Path: binary, Dir: p.Dir, Args: launch.BinaryArgs(&s.options.Recipe), Exec: s.options.Recipe.Exec}
	names, err := plain.Tests(ctx, s.listing())
	if err != nil {
		return broken(result.Failed, err)
	}
	s.shuffle(names)
	m, err := s.beginCover()
	if err != nil {
		return broken(result.Failed, err)
	}
	defer func() { s.endCover(ctx, m, plain, r) }()
	r.Outcome = result.Clean
	s.left, s.inOrder = map[trace.Site]*left{}, nil
	if s.options.Corpus == "" && kept.HasOld(p.Dir) {
		s.launcher.Note(fmt.Sprintf("%s: kept findings are in %s, where tests that walk testdata read them: the next finding moves them to %s", p.ImportPath, kept.OldDir, kept.Dir))
	}
	var targets []string
	for _, name := range names {
		if s.fuzzes(name) {
			targets = append(targets, name)
			continue
		}
		run, ok := s.filter.Select(name)
		if !ok {
			continue
		}
		units := []unit{{pkg: p, recipe: s.recipe(p, run), binary: binary, name: name}}
		if s.options.Subtests {
			subtests, err := plain.Subtests(ctx, name, run, s.listing())
			if err != nil {
				return broken(result.Failed, err)
			}
			for _, sub := range subtests {
				units = append(units, unit{pkg: p, recipe: s.recipe(p, gotool.Only(sub)), binary: binary, name: sub})
			}
		}
		for _, u := range units {
			if err := s.unit(ctx, u, r); err != nil || s.options.Failfast && r.Found > 0 {
				return err
			}
		}
	}
	for _, name := range targets {
		if err := s.fuzz(ctx, unit{pkg: p, recipe: s.recipe(p, gotool.Only(name)), binary: binary, name: name}, plain, r); err != nil {
			return err
		}
		if s.options.Failfast && r.Found > 0 {
			return nil
		}
	}
	if s.options.Fuzz != nil && len(targets) > 0 {
		s.fuzzed = true
	}
	return nil
}

// list lists the names that -list selects.
func (s *suite) list(ctx context.Context, binary string, p gotool.Package, r *result.Package, broken func(string, error) error) error {
	plain := gotool.Binary{Path: binary, Dir: p.Dir, Args: s.options.Recipe.Args, Exec: s.options.Recipe.Exec}
	out, err := plain.List(ctx, *s.options.List, s.listing())
	if err != nil {
		return broken(result.Failed, err)
	}
	r.Outcome, r.Listing, r.Listed = result.Listed, out, gotool.Listed(out)
	return nil
}

// shuffle puts the names of tests into the order in which go test -shuffle runs them: it leaves fuzz targets and examples
// where they are.
func (s *suite) shuffle(names []string) {
	if s.options.Shuffle == nil {
		return
	}
	tests := slices.IndexFunc(names, func(name string) bool { return !strings.HasPrefix(name, "Test") })
	if tests < 0 {
		tests = len(names)
	}
	rand.New(rand.NewSource(*s.options.Shuffle)).Shuffle(tests, func(i, j int) { names[i], names[j] = names[j], names[i] })
}

// unit is a test that is explored alone.
type unit struct {
	pkg    gotool.Package
	recipe *trace.Recipe
	binary string
	name   string // full name: a subtest's has slashes
}

// unit explores one test and adds it to its package's totals.
func (s *suite) unit(ctx context.Context, u unit, r *result.Package) error {
	s.events.Begin(u.name)
	began := time.Now()
	out := &result.Test{Package: u.pkg.ImportPath, Test: u.name}
	err := s.explore(ctx, u, out)
	if cerr := ctx.Err(); cerr != nil {
		if out.Outcome != result.Found {
			out.Outcome = result.Interrupted
		}
		err = cerr
	} else if err != nil {
		// The failure concerns no other test.
		s.totals.Failed++
		r.Worsen(result.Failed)
		if out.Outcome != result.Found {
			out.Outcome = result.Failed
		}
		out.Error = err.Error()
		if errors.Is(err, context.Canceled) {
			out.Error = "interrupted"
		}
		if out.Outcome == result.Failed {
			s.unexplored(out, out.Error)
		}
		err = nil
	} else if out.SkippedAlways() {
		r.Skipped++
	} else if out.Outcome == result.Ignored {
		s.totals.Ignored++
		r.Ignored++
		r.Worsen(result.Ignored)
		note(out, "every execution ended in an ignored finding: nothing else is known about the test")
	} else if unfinished(out) || out.Outcome == result.Unfinished {
		s.totals.Unfinished++
		r.Unfinished++
		r.Worsen(result.Unfinished)
		out.Outcome = result.Unfinished
		switch u := out.UnfinishedExecutions; {
		case out.Executions == 0, u != nil && u.Executions == out.Executions:
			note(out, "no execution ended within %s: use a longer -timeout, or -short if the test knows it", s.options.Explore.Time)
		case u != nil:
			note(out, "%s did not end, so this is not a pass: use a longer -timeout, or -short if the test knows it", wording.Count(u.Executions, "execution"))
		case out.Report != nil && out.Report.Outcome == engine.OnlyCut:
			note(out, "no execution ran to its end, so this is not a pass: --cut cut them all")
		case out.Report != nil && out.Report.Undecided > 0:
			note(out, "executions failed, and time ran out before it was known whether they count, so this is neither a finding nor a pass: use a longer -timeout")
		default:
			note(out, "executions failed, and none failed again when run again: the test depends on more than the schedule, so this is neither a finding nor a pass")
		}
		s.unexplored(out, out.Notes[len(out.Notes)-1])
	}
	out.Seconds = time.Since(began).Seconds()
	r.Tests++
	s.totals.Tests++
	r.Executions += out.Executions
	if out.Outcome == result.Found {
		each := out.Each()
		s.totals.Found += len(each)
		r.Found += len(each)
		r.Worsen(result.Found)
		s.totals.Findings = append(s.totals.Findings, each...)
	}
	s.countLeaks(out, r)
	s.totals.Early = append(s.totals.Early, out.Early...)
	if perr := s.events.Test(out); perr != nil {
		return perr
	}
	return err
}

// unexplored adds a test of which nothing is known. What a test wrote may follow the reason.
func (s *suite) unexplored(out *result.Test, why string) {
	why, _, _ = strings.Cut(why, "\n")
	s.totals.Unexplored = append(s.totals.Unexplored, result.Unexplored{Package: out.Package, Test: out.Test, Why: why})
}

// explore replays earlier findings, then searches for new ones.
func (s *suite) explore(ctx context.Context, u unit, out *result.Test) error {
	start := func(ctx context.Context) (target.Target, error) {
		return s.launcher.StartTest(ctx, u.recipe, u.binary, s.options.Dir, u.pkg, s.options.Outputs, s.options.How)
	}
	began := time.Now()
	starting, cancel := engine.Limited(ctx, s.options.Explore.Time)
	t, err := start(starting)
	cancel()
	if err != nil && engine.OutOfTime(starting) {
		out.Outcome = result.Unfinished // it is still busy with the execution that warms it up
		if stuck := (*target.StuckError)(nil); errors.As(err, &stuck) {
			out.Stuck = stuck.Where
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer t.Close()
	k := kept.Of(s.builder.Cache, u.pkg.Dir, u.pkg.ImportPath, u.name)
	if s.options.Corpus != "" {
		k = kept.In(s.options.Corpus, u.pkg.ImportPath, u.name)
	}
	names := report.NewRunning(t.Modules)
	again, err := s.retry(ctx, t, k, names, u, out)
	all := s.options.Explore.All
	if err != nil || again.finding() && !again.leak() && !all {
		s.takeKept(ctx, t, again, names, out)
		s.pass(out, again.passed)
		return err
	}
	opts := s.options.Explore
	if opts.Time > 0 {
		opts.Time = max(opts.Time-time.Since(began), opts.Time/8)
	}
	opts.Where, opts.Locate, opts.Objects = names.Place, names.Locate, names.Object
	if !s.options.NoExplain {
		opts.Why = names
	}
	if all {
		opts.Ignore = slices.Concat(opts.Ignore, again.keys())
	}
	if s.leaksFail() && (all || !again.finding()) {
		// Count each go statement of the package once.
		opts.LeakFails = func(l engine.Leak) bool { return s.left[l.Statement] == nil }
	}
	progress, done := s.events.Exploring(u.name, t)
	found, err := s.find(ctx, t, opts, start, progress)
	done()
	take(out, found)
	again.report(out, t)
	s.pass(out, again.passed)
	if found.Finding == nil {
		if again.finding() {
			if !all {
				s.takeKept(ctx, t, again, names, out)
			}
			return err
		}
		if err == nil {
			err = s.settle(again.fixed, out)
		}
		return err
	}
	if !all {
		out.Shown = found.Finding.Recorded
		if sim := found.Simplified; sim != nil {
			out.Shown = sim.Recorded
		}
		werr := s.keep(k, out, out.Shown, &out.Trace, out.Simplified)
		return errors.Join(werr, err)
	}
	for i := range out.Findings {
		if f := &out.Findings[i]; !f.Known {
			if werr := s.keep(k, out, f.Shown, &f.Trace, f.Simplified); werr != nil {
				return errors.Join(werr, err)
			}
		}
	}
	first := &out.Findings[0]
	out.Finding, out.Trace, out.Simplified, out.Shown, out.Known, out.Changed = first.Finding, first.Trace, first.Simplified, first.Shown, first.Known, first.Changed
	return err
}

// keep stores a new finding in the package, if it was recorded.
func (s *suite) keep(k kept.Findings, out *result.Test, tr *trace.Trace, file *string, simplified *result.Simplified) error {
	if tr == nil {
		return nil
	}
	name, moved, err := k.Keep(tr)
	if moved != "" {
		note(out, "%s", moved)
	}
	if err != nil {
		return err
	}
	*file = s.short(name)
	if simplified != nil {
		simplified.Trace = *file
	}
	return nil
}

// leaksFail reports whether leaked goroutines are failures.
func (s *suite) leaksFail() bool { return s.options.Recipe.Leaks == launch.LeaksFail }

// short returns a file's name relative to the working directory, as a user would write it.
func (s *suite) short(name string) string {
	if rel, err := filepath.Rel(s.options.Dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// unfinished reports whether no execution of the test ended in time.
func unfinished(out *result.Test) bool {
	return out.Report != nil && out.Report.Finding == nil && out.Outcome != result.Found && out.Report.Executions == 0 && !out.Report.Sequential
}

// take adds the result of a search to the test's.
func take(out *result.Test, r *engine.Report) {
	found, tried := result.Of(r), out.Executions
	out.Report = r
	out.Search = found.Search
	out.Executions += tried
	out.Skipped += r.Skipped
	if out.Sequential = r.Sequential; !r.Sequential {
		out.Notes = append(out.Notes, found.Notes...) // otherwise the search is the only result
	}
	out.Early = r.Early
	out.Aside, out.Finding, out.Simplified = found.Aside, found.Finding, found.Simplified
	for _, l := range r.Leaks {
		out.Leaks = append(out.Leaks, result.Leak{Created: l.Created, Statement: l.Statement, Op: l.Op, Where: l.Where, Running: l.Running, Executions: l.Executions, Kept: l.Kept, Partners: l.Partners})
	}
}

func note(out *result.Test, format string, args ...any) {
	out.Notes = append(out.Notes, fmt.Sprintf(format, args...))
}
