package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	goterm "golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/gotest"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// testCommand takes go test's flags beside heddle's own; goTestWords lets them be written
// as go test has them.
type testCommand struct {
	goFlags
	searchFlags
	racesFlag

	Subtests        bool `help:"Explore every subtest alone, too."`
	AllowUnfinished bool `help:"Accept tests of which no execution ended in time, or every one ended in a finding of --ignore: exit with 0 though nothing is known about them."`
	Jobs            int  `short:"j" default:"1" placeholder:"N" help:"Run executions of a test in up to N processes at once. The first finding is the same for every N."`
	corpusFlags
	outputFlags
	ciFlags
	drawFlags
	statsFlag
	whyFlag
	watchdogFlag

	Pattern   string        `group:"go" name:"run" placeholder:"REGEXP" help:"Explore only tests, fuzz targets (with their seeds) and examples that match."`
	Skip      string        `group:"go" placeholder:"REGEXP" help:"Leave out those that match."`
	Count     int           `group:"go" placeholder:"N" help:"Explore at most N executions of each test; 0 for no limit."`
	Timeout   time.Duration `group:"go" default:"10s" help:"Take at most this long for each test, simplification included; 0 for no limit. Exploration ends sooner when nothing new is seen."`
	Short     bool          `group:"go" help:"Tell tests to be short."`
	Race      bool          `group:"go" default:"true" help:"A data race is a failure (-race=false: it is not, as with --races=ignore)."`
	Parallel  int           `group:"go" default:"${parallel}" placeholder:"N" help:"Let this many tests that call t.Parallel be under way at once."`
	V         bool          `group:"go" name:"v" help:"Say when a test begins, and what was noted about it."`
	Failfast  bool          `group:"go" help:"End with the first test that fails."`
	List      *string       `group:"go" placeholder:"REGEXP" help:"Build the tests, and list the tests, benchmarks, fuzz targets and examples that match, in place of exploring them."`
	Shuffle   shuffleFlag   `group:"go" default:"off" placeholder:"off,on,N" help:"Explore the tests of a package in the random order in which go test -shuffle runs them; N is the seed."`
	C         bool          `group:"go" name:"c" help:"Build the test binaries, with heddle in them, and explore nothing. They run as other test binaries do."`
	O         string        `group:"go" name:"o" placeholder:"FILE" help:"Keep the test binary in FILE, or those of several packages in that directory."`
	Exec      string        `group:"go" placeholder:"CMD" help:"Start test binaries with a command that ends in an exec of the words after its own."`
	Isolation string        `predictor:"isolation" placeholder:"HOW" help:"Give each execution a process of its own (process). By default a test that can has many in one."`
	Chdir     string        `group:"go" name:"C" placeholder:"DIR" help:"Change to DIR first."`
	coverFlags
	fuzzFlags
	ignoredGoFlags
	Args []string `group:"go" sep:"none" placeholder:"WORD" help:"What follows -args is for the test binary."`

	Packages []string `arg:"" optional:"" name:"packages" help:"Packages, as for go test."`
}

func (c *testCommand) Help() string {
	return `Builds the packages' tests with heddle in Go's own runtime, and explores the schedules of
each test alone: as go test -race would run it, in one order after the other. Finds
panics, data races, deadlocks and failed tests, and notes goroutines that are left behind.
Findings are kept in the package's _heddle directory and tried first the next time. The command line is that
of go test, with one dash or two: -run X; docs/go.md lists the differences. --json=go prints the
events of go test -json. Ends with 1 if a bug was found, and with 3
if some package or test could not be run, or no execution of a test ended in time. docs/terms.md
explains the words of its reports.`
}

// staleAfter ends the exploration of a test whose executions show nothing new so many times
// in a row, and half of all.
const staleAfter = 4000

// testPatience ends the simplification of a finding whose executions are long and gain nothing:
// other tests wait, and heddle simplify can continue. It counts events, so that the result does not
// depend on the machine.
const testPatience = 4_000_000

// options are those of each test's search.
func (c *testCommand) options() (engine.Options, error) {
	if c.Count < 0 || c.Timeout < 0 || c.MaxSteps < 0 || c.Parallel < 0 || c.Jobs < 0 {
		return engine.Options{}, usage.Errorf("-count, -timeout, -parallel, --jobs and --max-steps cannot be negative")
	}
	if err := c.corpusFlags.check(); err != nil {
		return engine.Options{}, err
	}
	opts, err := c.searchFlags.options()
	if err != nil {
		return opts, err
	}
	opts.EarlyAside = true
	opts.Runs, opts.Time, opts.WatchMore = c.Count, c.Timeout, !c.racesAllowed()
	opts.Races, err = c.races()
	if c.racesAllowed() {
		opts.Races = engine.RacesIgnored
	}
	opts.Simplify = engine.SimplifyOptions{Time: c.Timeout, ExtraTime: c.Timeout / 6}
	if c.Timeout > 0 {
		opts.Simplify.Patience = testPatience
	}
	if c.Count == 0 {
		opts.Stale = staleAfter
	}
	if c.outputFlags.judges() && !c.chosen() {
		opts.Search = nil // sampling alone, as in findCommand.options
	}
	return opts, err
}

// racesAllowed reports whether a race is not a failure.
func (c *testCommand) racesAllowed() bool { return !c.Race || c.Races == "ignore" }

// recipe is how all tests are built and run.
func (c *testCommand) recipe() trace.Recipe {
	r := trace.Recipe{
		Kind: trace.RecipeTest, Tool: "go", Flags: c.build(), Env: gotool.BuildEnv(), Packages: c.Packages, Args: c.Args,
		Vet: c.Vet, Run: c.Pattern, Skip: c.Skip, Short: c.Short, RacesAllowed: c.racesAllowed(), Leaks: c.leaks(), LeakIgnore: c.LeakIgnore,
	}
	if c.Parallel != launch.DefaultParallel {
		r.Parallel = c.Parallel
	}
	return r
}

func (c *testCommand) Run(a *app) error {
	if c.Chdir != "" {
		if err := os.Chdir(c.Chdir); err != nil {
			return usage.Errorf("-C: %w", err)
		}
		os.Unsetenv("PWD") // names the directory before
	}
	for _, text := range c.ignoredGoFlags.given() {
		fmt.Fprintf(a.stderr, "heddle: note: %s\n", text)
	}
	opts, err := c.options()
	if err != nil {
		return err
	}
	recipe := c.recipe()
	if recipe.Exec, err = gotool.SplitQuoted(c.Exec); err != nil {
		return usage.Errorf("-exec: %w", err)
	}
	dir, err := launch.WorkingDir()
	if err != nil {
		return err
	}
	cover, err := c.cover(dir)
	if err != nil {
		return err
	}
	recipe.Flags = append(recipe.Flags, c.buildCover(cover)...)
	fuzz, err := c.fuzz()
	if err != nil {
		return err
	}
	how := launch.How{Watchdog: c.Watchdog, Isolation: c.Isolation}
	if err := how.CheckGo(); err != nil {
		return err
	}
	files, err := c.files(a, "heddle test")
	if err != nil {
		return err
	}
	var outputs launch.Outputs
	if err := c.outputFlags.set(&outputs); err != nil {
		return err
	}
	p := a.printer(c.drawFlags, c.statsFlag)
	if screen, ok := a.screen.(*os.File); ok {
		p.Bounded = goterm.IsTerminal(int(screen.Fd()))
	}
	p.EarlyTimeouts, p.Exhaustive = c.EarlyTimeouts, c.chosen()
	if seed := c.Shuffle.seed; seed != nil && !a.JSON {
		fmt.Fprintf(a.stdout, "-test.shuffle %d\n", *seed)
	}
	p.Seed, p.Prune, p.AllowUnfinished, p.LeaksNoted = c.Seed, c.Prune, c.AllowUnfinished, c.leaks() == ""
	l, events := a.launcher(), &testEvents{app: a, printer: p, files: files, begin: c.V, accepted: c.AllowUnfinished}
	if a.goEvents() {
		l.Output = io.Discard // the events have it
		p.Draw = term.Options{Width: 100, Unicode: true}
		events.goEvents = &result.GoEvents{Print: a.printLine, Printer: p, Accepted: c.AllowUnfinished}
	}
	totals, err := gotest.Run(a.ctx, l, gotest.Options{
		Recipe: recipe, Explore: opts, How: how, Outputs: outputs, Dir: dir,
		Subtests: c.Subtests, Failfast: c.Failfast, Prune: c.Prune, Corpus: c.Corpus, Processes: c.Jobs, NoExplain: c.NoExplain,
		List: c.List, Shuffle: c.Shuffle.seed, Cover: cover, Fuzz: fuzz, Compile: c.C, Output: c.O,
	}, events)
	if err != nil {
		files.Interrupted(errors.New(sentence(err)))
	}
	err = a.withFiles(files, err)
	if !a.JSON {
		err = cmp.Or(err, p.Totals(totals))
	}
	switch {
	case totals.Found > 0:
		if err != nil {
			fmt.Fprintf(a.stderr, "heddle: %s\n", sentence(err))
		}
		return errFound
	case err != nil:
		return err
	case totals.Failed == 1:
		return errors.New("a package or test could not be run, see above")
	case totals.Failed > 0:
		return fmt.Errorf("%d packages or tests could not be run, see above", totals.Failed)
	case totals.Ignored > 0 && totals.Unfinished == 0 && !c.AllowUnfinished:
		return fmt.Errorf("every execution of %s ended in an ignored finding, so nothing else is known about %s: fix the finding, or use --allow-unfinished",
			wording.Count(totals.Ignored, "test"), map[bool]string{true: "it", false: "them"}[totals.Ignored == 1])
	case totals.Unfinished > 0 && !c.AllowUnfinished:
		return fmt.Errorf("%s did not come to a result, so nothing is known about %s (see the notes): use a longer -timeout, -short, or --allow-unfinished",
			wording.Count(totals.Unfinished, "test"), map[bool]string{true: "it", false: "them"}[totals.Unfinished == 1])
	}
	return nil
}

// testEvents prints what happens in a run of tests.
type testEvents struct {
	app     *app
	printer *result.Printer
	files   *result.Files

	begin    bool             // print the beginning of each test
	accepted bool             // tests of which nothing is known do not count
	goEvents *result.GoEvents // prints the results, for --json=go; otherwise nil
}

func (e *testEvents) Start(pkg string) error {
	if e.goEvents != nil {
		return e.goEvents.Start(pkg)
	}
	return nil
}

func (e *testEvents) Building(pkg string) (done func()) {
	p := e.app.progress()
	p.begin(fmt.Sprintf("build: %s", pkg))
	return p.done
}

func (e *testEvents) Begin(test string) {
	if e.goEvents != nil {
		e.goEvents.Begin(test)
	}
	if e.begin && !e.app.JSON {
		fmt.Fprintf(e.app.stdout, "=== RUN   %s\n", test)
	}
}

func (e *testEvents) Exploring(test string, t target.Target) (progress func(engine.Progress), done func()) {
	p := e.app.progress().of(t)
	p.subject = test
	return p.find, p.done
}

func (e *testEvents) Test(r *result.Test) error {
	e.files.Test(r, e.accepted)
	switch {
	case e.goEvents != nil:
		return e.goEvents.Test(r)
	case e.app.JSON:
		return e.app.printLine(r)
	}
	return e.printer.Test(r)
}

func (e *testEvents) Package(r *result.Package) error {
	e.files.Package(r)
	switch {
	case e.goEvents != nil:
		return e.goEvents.Package(r)
	case e.app.JSON:
		return e.app.printLine(r)
	}
	return e.printer.Package(r)
}

// goFlags say how a Go program is built and what counts as its failure. They are the same
// for go test and heddle test.
type goFlags struct {
	Leaks      string   `default:"note" enum:"note,fail,ignore" placeholder:"HOW" help:"Treat goroutines that a test leaves behind as a note (note), as a failure where nothing worse is found (fail), or not at all (ignore)."`
	NoLeaks    bool     `hidden:"" help:"The same as --leaks=ignore."`
	LeakIgnore []string `placeholder:"FUNC" sep:"none" help:"Ignore leaked goroutines that were started in FUNC or have it on their stack; like example.com/pool.(*Pool).worker. Can be repeated."`

	Tags       string   `group:"go" placeholder:"LIST" help:"Build tags."`
	Mod        string   `group:"go" placeholder:"MODE" help:"Module mode."`
	Modfile    string   `group:"go" placeholder:"FILE" help:"Use this in place of go.mod."`
	Overlay    string   `group:"go" placeholder:"FILE" help:"Replace files in the build."`
	Ldflags    []string `group:"go" name:"ldflags" sep:"none" placeholder:"ARGS" help:"For the linker."`
	Gcflags    []string `group:"go" name:"gcflags" sep:"none" placeholder:"ARGS" help:"For the compiler."`
	Asmflags   []string `group:"go" name:"asmflags" sep:"none" placeholder:"ARGS" help:"For the assembler."`
	PGO        string   `group:"go" name:"pgo" placeholder:"FILE" help:"Profile for the compiler."`
	P          string   `group:"go" name:"p" placeholder:"N" help:"Build this much in parallel."`
	Trimpath   bool     `group:"go" help:"Build without file system paths."`
	A          bool     `group:"go" name:"a" help:"Build packages again that are up to date."`
	Buildvcs   string   `group:"go" placeholder:"WHETHER" help:"Note the state of version control in the binary: true, false or auto."`
	Modcacherw bool     `group:"go" help:"Leave new directories of the module cache writable."`
	Toolexec   string   `group:"go" placeholder:"CMD" help:"Start the tools of the build by a command."`
	Vet        string   `group:"go" placeholder:"LIST" help:"Checks that go vet makes before tests are built; off for none."`
}

// leaks is what a recipe says of them.
func (f *goFlags) leaks() string {
	switch {
	case f.NoLeaks:
		return launch.LeaksIgnore
	case f.Leaks == "note":
		return ""
	}
	return f.Leaks
}

// build are the flags of go build among them.
func (f *goFlags) build() (words []string) {
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				words = append(words, "-"+name+"="+v)
			}
		}
	}
	add("tags", f.Tags)
	add("mod", f.Mod)
	add("modfile", f.Modfile)
	add("overlay", f.Overlay)
	add("ldflags", f.Ldflags...)
	add("gcflags", f.Gcflags...)
	add("asmflags", f.Asmflags...)
	add("pgo", f.PGO)
	add("p", f.P)
	add("buildvcs", f.Buildvcs)
	add("toolexec", f.Toolexec)
	for _, flag := range []struct {
		set  bool
		word string
	}{{f.Trimpath, "-trimpath"}, {f.A, "-a"}, {f.Modcacherw, "-modcacherw"}} {
		if flag.set {
			words = append(words, flag.word)
		}
	}
	return words
}
