package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
)

// testCommand takes go test's flags beside heddle's own; goTestWords lets them be written
// as go test has them.
type testCommand struct {
	goFlags

	Seed            uint64        `default:"1" help:"Choose another sequence of schedules. The same seed and build give the same first finding."`
	Strategy        []string      `placeholder:"NAME" help:"Use only these strategies: random, stay, pct, pos. Otherwise they take turns."`
	EarlyTimeouts   bool          `help:"Let any time-out, sleep or timer end while other goroutines could run; otherwise they are delayed by 100 ms in all at most." xor:"early"`
	NoEarlyTimeouts bool          `help:"Never let one end while another goroutine could run." xor:"early"`
	NoSimplify      bool          `help:"Stop at the trace that was found."`
	Subtests        bool          `help:"Explore every subtest alone, too."`
	AllowUnfinished bool          `help:"Accept tests of which no execution ended in time: exit with 0 though nothing is known about them."`
	Prune           bool          `help:"Remove kept findings that do not fail any more."`
	MaxSteps        int           `placeholder:"N" help:"Call an execution of more than N scheduling points a hang."`
	Full            bool          `help:"Show every event, and fold nothing."`
	Stats           bool          `help:"Print what simplifying did, in tables."`
	Watchdog        time.Duration `default:"10s" help:"Call it a hang when the program runs this long without reaching a scheduling point."`

	Pattern  string        `group:"go" name:"run" placeholder:"REGEXP" help:"Explore only tests, fuzz targets (with their seeds) and examples that match."`
	Skip     string        `group:"go" placeholder:"REGEXP" help:"Leave out those that match."`
	Count    int           `group:"go" placeholder:"N" help:"Explore at most N executions of each test."`
	Timeout  time.Duration `group:"go" default:"10s" help:"Explore each test at most this long, and simplify at most as long; 0 for until Ctrl-C. It ends sooner when nothing new is seen."`
	Short    bool          `group:"go" help:"Tell tests to be short."`
	Race     bool          `group:"go" default:"true" help:"A data race is a failure (-race=false: it is not)."`
	Parallel int           `group:"go" default:"8" placeholder:"N" help:"Let this many tests that call t.Parallel be under way at once."`
	V        bool          `group:"go" name:"v" help:"Say when a test begins, and what was noted about it."`
	Failfast bool          `group:"go" help:"End with the first test that fails."`
	CPU      string        `group:"go" name:"cpu" placeholder:"LIST" help:"Accepted for compatibility; ignored."`
	Shuffle  string        `group:"go" placeholder:"MODE" help:"Accepted for compatibility; ignored."`
	Args     []string      `group:"go" sep:"none" placeholder:"WORD" help:"What follows -args is for the test binary."`

	Packages []string `arg:"" optional:"" name:"packages" help:"Packages, as for go test."`
}

func (c *testCommand) Help() string {
	return `Builds the packages' tests with heddle in Go's own runtime, and explores the schedules of
each test alone: as go test -race would run it, in one order after the other. Finds
panics, data races, deadlocks and failed tests, and notes goroutines that are left behind.
Findings are kept in the package's _heddle directory and tried first the next time. Flags of go
test may be written as go test has them, -run X. Ends with 1 if a bug was found, and with 3
if some package or test could not be run, or no execution of a test ended in time.`
}

// staleAfter ends the exploration of a test whose executions show nothing new so many times
// in a row, and half of all.
const staleAfter = 4000

// options are those of each test's search.
func (c *testCommand) options() (engine.Options, error) {
	opts := engine.Options{
		Seed: c.Seed, Runs: c.Count, Time: c.Timeout, MaxSteps: c.MaxSteps, NoSimplify: c.NoSimplify,
		EarlyTimeouts: c.EarlyTimeouts, NoEarlyTimeouts: c.NoEarlyTimeouts, RacesFail: c.Race, StopWhenSequential: true, Simplify: engine.SimplifyOptions{Time: c.Timeout},
	}
	if c.Count < 0 || c.Timeout < 0 || c.MaxSteps < 0 || c.Parallel < 0 {
		return opts, usage(errors.New("-count, -timeout, -parallel and --max-steps cannot be negative"))
	}
	if c.Count == 0 {
		opts.Stale = staleAfter
	}
	for _, name := range c.Strategy {
		s, err := strategy.Parse(name)
		if err != nil {
			return opts, usage(err)
		}
		opts.Samplers = append(opts.Samplers, s)
	}
	return opts, nil
}

// words are a command line of heddle that runs the tests that run selects, and those only,
// in the same way. It goes into traces.
func (c *testCommand) words(what []string, run string) []string {
	words := append([]string{"heddle", "test"}, c.goFlags.words()...)
	if !c.Race {
		words = append(words, "-race=false")
	}
	if c.Short {
		words = append(words, "-short")
	}
	if c.Parallel != defaultParallel {
		words = append(words, fmt.Sprintf("-parallel=%d", c.Parallel))
	}
	if c.Skip != "" {
		words = append(words, "-skip="+c.Skip)
	}
	words = append(append(words, "-run="+run), what...)
	if len(c.Args) > 0 {
		words = append(append(words, "-args"), c.Args...)
	}
	return words
}

// defaultParallel is that of -parallel: the same on every machine, or a trace would not
// replay on another.
const defaultParallel = 8

// config says how to run a test binary so that it repeats what run selects.
func (c *testCommand) config(binary, dir, run string) goprog.Config {
	args := []string{
		binary, "-test.run=" + run, "-test.count=1000000000", "-test.timeout=0", "-test.paniconexit0",
		fmt.Sprintf("-test.parallel=%d", c.Parallel),
	}
	return goprog.Config{
		Path: binary, Args: append(args, c.binaryArgs()...), Dir: dir, Test: true,
		Fresh:   strings.HasPrefix(run, "^Example"), // go test never repeats one
		NoLeaks: c.leaks() == leaksIgnore, LeakIgnore: c.LeakIgnore, Watchdog: c.Watchdog,
	}
}

// binaryArgs are the arguments of a test binary that are the user's.
func (c *testCommand) binaryArgs() (args []string) {
	if c.Short {
		args = append(args, "-test.short")
	}
	if c.Skip != "" {
		args = append(args, "-test.skip="+c.Skip)
	}
	return append(args, c.Args...)
}

func (c *testCommand) Run(a *app) error {
	for _, f := range []struct {
		set       bool
		name, why string
	}{
		{c.CPU != "", "-cpu", "one goroutine runs at a time, and heddle chooses which"},
		{c.Shuffle != "", "-shuffle", "each test runs alone"},
	} {
		if f.set {
			fmt.Fprintf(a.stderr, "heddle: note: %s has no effect: %s\n", f.name, f.why)
		}
	}
	opts, err := c.options()
	if err != nil {
		return err
	}
	if err := checkPackages(c.Packages); err != nil {
		return err
	}
	filter, err := gotool.NewFilter(c.Pattern, c.Skip)
	if err != nil {
		return usage(err)
	}
	dir, err := workingDir()
	if err != nil {
		return err
	}
	b, err := a.goBuilder(dir, patch.Options{})
	if err != nil {
		return err
	}
	packages, err := b.tool.List(a.ctx, c.build(), c.Packages)
	if err != nil {
		return err
	}
	s := &suite{app: a, command: c, builder: b, options: opts, filter: filter, dir: dir}
	err = s.run(packages)
	err = cmp.Or(err, s.printSummary())
	switch {
	case s.found > 0:
		if err != nil {
			fmt.Fprintf(a.stderr, "heddle: %s\n", sentence(err))
		}
		return errFound
	case err != nil:
		return err
	case s.failed == 1:
		return errors.New("a package or test could not be run, see above")
	case s.failed > 0:
		return fmt.Errorf("%d packages or tests could not be run, see above", s.failed)
	case s.unfinished > 0 && !c.AllowUnfinished:
		return fmt.Errorf("no execution of %s ended in time, so nothing is known about %s: use a longer -timeout, -short, or --allow-unfinished",
			count(s.unfinished, "test"), map[bool]string{true: "it", false: "them"}[s.unfinished == 1])
	}
	return nil
}
