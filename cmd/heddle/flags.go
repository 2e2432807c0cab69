package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/alecthomas/kong"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/ignore"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/trace"
)

// Flags shared by several commands, which embed them.

type watchdogFlag struct {
	Watchdog time.Duration `default:"10s" help:"End an execution as unfinished, with the place of each thread, when it runs this long without reaching a scheduling point."`
}

// timeFlag bounds commands that otherwise run to their end.
type timeFlag struct {
	Time time.Duration `placeholder:"DURATION" help:"Take at most this long; what is known by then is printed. Otherwise there is no limit."`

	spent time.Duration // on reading the trace
}

// readTrace reads a trace within the limit. Building its program afterwards does not count.
func (f *timeFlag) readTrace(a *app, name string) (*trace.Trace, error) {
	ctx, cancel, err := f.within(a)
	if err != nil {
		return nil, err
	}
	defer cancel()
	began := time.Now()
	tr, err := tracefile.ReadWithin(ctx, name)
	f.spent = time.Since(began)
	if err != nil && engine.OutOfTime(ctx) {
		return nil, fmt.Errorf("the trace could not be read within --time %v", f.Time)
	}
	return tr, err
}

// within returns the context in which a command executes the program.
func (f *timeFlag) within(a *app) (context.Context, context.CancelFunc, error) {
	if f.Time < 0 {
		return nil, nil, usage.Errorf("--time cannot be negative")
	}
	left := f.Time
	if left > 0 {
		left = max(left-f.spent, 1)
	}
	ctx, cancel := engine.Limited(a.ctx, left)
	return ctx, cancel, nil
}

// overtime explains an error of what ran in a context of within, and prints where the threads of an execution were that it ended.
func (f *timeFlag) overtime(ctx context.Context, a *app, t target.Target, err error) error {
	var cut *target.CutError
	if errors.As(err, &cut) && !a.JSON {
		names := report.NewRunning(t.Modules)
		result.PrintUnfinished(a.stdout, engine.UnfinishedExecution(&cut.Outcome, names.Locate, names.Object))
	}
	if err != nil && engine.OutOfTime(ctx) {
		return fmt.Errorf("not done within --time %v", f.Time)
	}
	return err
}

// isolationFlags say how executions of a C or C++ program are isolated.
type isolationFlags struct {
	Isolation string `predictor:"isolation" placeholder:"HOW" help:"How to isolate executions: restore memory (snapshot), run each in a child process (fork), or launch a process for each (process). Otherwise whatever the program turns out to need."`
	Threads   bool   `help:"Give each of the program's threads a kernel thread; every execution then runs in its own process."`
}

// jobsFlag says how many processes of a program run at once.
type jobsFlag struct {
	Jobs int `short:"j" placeholder:"N" help:"Run up to N processes of the program at once (otherwise one for each core) to explore and to simplify. The result is the same for every N. Programs that use files or start processes have one, and so do Go programs."`
}

// processes returns the number of processes to simplify with.
func (f jobsFlag) processes() (int, error) {
	if f.Jobs < 0 {
		return 0, usage.Errorf("--jobs cannot be negative")
	}
	return cmp.Or(f.Jobs, runtime.GOMAXPROCS(0)), nil
}

// runFlags say how a program is run, for commands that take one or its trace.
type runFlags struct {
	watchdogFlag
	isolationFlags
}

func (f runFlags) how() launch.How {
	return launch.How{Watchdog: f.Watchdog, Isolation: f.Isolation, Threads: f.Threads}
}

// programFlags say what input and calls a program gets.
type programFlags struct {
	Stdin string `placeholder:"FILE" help:"${where}Let every execution read FILE as its standard input (- for heddle's own); otherwise standard input is empty."`
	runFlags
	Omit []string `name:"omit" aliases:"without" placeholder:"CALL@FILE:LINE" sep:"none" help:"${where}Omit a synchronisation call, like pthread_mutex_lock@queue.c:123, and the unlock that belongs to it, to see whether it is needed."`
	tryLockFlag
}

// tryLockFlag says which locks are tried.
type tryLockFlag struct {
	TryLock []string `name:"try-lock" placeholder:"LOCK@FILE:FROM-TO" sep:"none" help:"${where}Execute lines of a C or C++ program as if a lock were held there, like mu@queue.c:10-14: a mutex of the program, or a lock of its own if no variable has that name. Can be repeated."`
}

// program is what they say of a program.
func (f programFlags) program(words []string) (p launch.Program, err error) {
	p = launch.Program{Words: words, Omit: f.Omit, TryLock: f.TryLock}
	p.Stdin, err = f.read()
	return p, err
}

// judgedProgram is program with the oracles of o.
func (f programFlags) judgedProgram(words []string, o outputFlags) (launch.Program, error) {
	p, err := f.program(words)
	if err == nil {
		err = o.set(&p.Outputs)
	}
	return p, err
}

func (f programFlags) read() ([]byte, error) {
	var in io.Reader
	switch f.Stdin {
	case "":
		return nil, nil
	case "-":
		in = os.Stdin
	default:
		file, err := os.Open(f.Stdin)
		if err != nil {
			return nil, fmt.Errorf("cannot read the program's input: %w", err)
		}
		defer file.Close()
		in = file
	}
	const most = 64 << 20
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the program's input: %w", err)
	}
	if len(b) > most {
		return nil, fmt.Errorf("the program's input is larger than %d MB, and a trace must hold it: use a smaller one", most>>20)
	}
	return b, nil
}

type seedFlag struct {
	Seed uint64 `default:"1" help:"Choose other schedules. The same seed and build give the same ones, and so the same first finding."`
}

type earlyFlag struct {
	EarlyTimeouts bool `help:"Let any time-out, sleep or timer end while other threads could run; otherwise they are delayed by 100 ms in all at most, and heddle test only counts failures that need more than 1 ms." xor:"early"`
}

type spuriousFlag struct {
	Spurious bool `help:"Let waits on condition variables and futexes end without a waker, as POSIX allows."`
}

type syncOnlyFlag struct {
	SyncOnly bool `help:"Search a program without access hooks, whose accesses to memory heddle does not see, for what its synchronisation alone shows. Without a finding such a search ends with 0 instead of 3."`
}

// noHooks begins the error about a program without access hooks.
const noHooks = "the program has no access hooks, so heddle does not see its accesses to memory"

type racesFlag struct {
	Races     string `placeholder:"HOW" help:"${where}Treat a data race as the finding if the search finds nothing worse (report, the default), as a failure that ends the search (fail), or only list it (ignore)."`
	RacesFail bool   `hidden:"" help:"The same as --races=fail."`
}

// given reports whether the user said how to treat races.
func (f racesFlag) given() bool { return f.Races != "" || f.RacesFail }

// races returns how a search treats races.
func (f racesFlag) races() (engine.Races, error) {
	switch {
	case f.RacesFail && f.Races != "" && f.Races != "fail":
		return 0, usage.Errorf("--races-fail is the same as --races=fail: it cannot be combined with --races=%s", f.Races)
	case f.RacesFail || f.Races == "fail":
		return engine.RacesFail, nil
	case f.Races == "ignore":
		return engine.RacesIgnored, nil
	case f.Races == "" || f.Races == "report":
		return engine.RacesReported, nil
	}
	return 0, usage.Errorf("invalid --races %q: want report, fail or ignore", f.Races)
}

type expectFlag struct {
	ExpectExit *int32 `placeholder:"STATUS" help:"${where}Call every other exit status a failure (otherwise: every status but 0)."`
}

type suppressFlag struct {
	Suppressions []string `placeholder:"FILE" predictor:"file" sep:"none" help:"Do not report what a line of FILE covers, in the syntax of ThreadSanitizer: race:PATTERN, race_top:PATTERN, mutex:PATTERN or deadlock:PATTERN, matched against functions, files and modules. Can be repeated."`
}

// outputFlags say what a good execution prints.
type outputFlags struct {
	Expect string `placeholder:"FILE" predictor:"file" help:"${where}Call an execution a failure if what it writes to standard output and standard error, in the order written, is not what FILE holds."`
	Oracle string `placeholder:"CMD" help:"${where}Call an execution a failure if CMD, a command of sh, ends with a status other than 0 when it reads the execution's output from its standard input; HEDDLE_STATUS is the exit status. CMD runs once for each different output."`
}

// judges reports whether an oracle judges the output.
func (f outputFlags) judges() bool { return f.Expect != "" || f.Oracle != "" }

// set sets the oracles.
func (f outputFlags) set(p *launch.Outputs) error {
	p.Oracle = f.Oracle
	if f.Expect == "" {
		return nil
	}
	in, err := os.Open(f.Expect)
	if err != nil {
		return fmt.Errorf("cannot read the expected output: %w", err)
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, engine.MaxOutput+1))
	if err != nil {
		return fmt.Errorf("cannot read the expected output: %w", err)
	}
	if len(b) > engine.MaxOutput {
		return fmt.Errorf("%s is larger than %d kB, and heddle keeps no more of an output: let the program print less, or use --oracle", f.Expect, engine.MaxOutput>>10)
	}
	p.ExpectOutput = append([]byte{}, b...)
	return nil
}

// ciFlags name files with results for continuous integration.
type ciFlags struct {
	JUnit string `name:"junit" placeholder:"FILE" predictor:"file" help:"Write the results to FILE as JUnit's XML."`
	SARIF string `name:"sarif" placeholder:"FILE" predictor:"file" help:"Write the findings to FILE in the SARIF format, with the places of the source relative to the working directory."`
	annotationsFlag
}

// annotationsFlag says whether findings are shown where GitHub Actions shows them.
type annotationsFlag struct {
	Annotations string `enum:"auto,on,off" default:"auto" help:"Write findings to the standard error as workflow commands of GitHub Actions, which shows them beside the source: auto (if it runs heddle), on or off."`
}

// annotations returns where they go.
func (f annotationsFlag) annotations(a *app) result.Annotations {
	to := result.Annotations{Root: os.Getenv("GITHUB_WORKSPACE")}
	if f.Annotations == "on" || f.Annotations == "auto" && os.Getenv("GITHUB_ACTIONS") == "true" {
		to.To = a.stderr
	}
	if to.Root == "" {
		to.Root, _ = launch.WorkingDir() // or else the names are absolute
	}
	return to
}

// files begins the files, for a program or tests of that name.
func (f ciFlags) files(a *app, name string) (*result.Files, error) {
	dir, err := launch.WorkingDir()
	if err != nil {
		return nil, err
	}
	files := &result.Files{JUnit: f.JUnit, SARIF: f.SARIF, Version: currentVersion().Version, Root: dir, Annotations: f.annotations(a)}
	return files, files.Begin(name)
}

// corpusFlags say where findings are kept from one search to the next.
type corpusFlags struct {
	Corpus string `placeholder:"DIR" predictor:"dir" help:"${corpus}"`
	Prune  bool   `help:"Remove kept findings that no longer fail."`
}

// check reports before the search that findings could not be kept.
func (f corpusFlags) check() error {
	if info, err := os.Stat(f.Corpus); f.Corpus != "" && err == nil && !info.IsDir() {
		return usage.Errorf("--corpus %s is not a directory: give one, or a name that does not exist yet", f.Corpus)
	}
	return nil
}

// status returns the exit status of a good execution.
func (f expectFlag) status() int32 {
	if f.ExpectExit == nil {
		return 0
	}
	return *f.ExpectExit
}

func (f expectFlag) checkExit() error {
	if e := f.ExpectExit; e != nil && (*e < 0 || *e > 255) {
		return usage.Errorf("--expect-exit %d is not an exit status: want 0 to 255", *e)
	}
	return nil
}

// searchFlags steer a search.
type searchFlags struct {
	seedFlag
	Strategy    []string `predictor:"search" placeholder:"NAME" help:"Use only these strategies, which take turns: ${policies} (by default all but delay, with feedback, race-directed and ctrigger, until dpor finishes the search if the program is small); or one of ${searches}, alone. chess executes all schedules, those with few preemptions first, and dpor all behaviours, of a program whose threads neither sleep nor use signals."`
	Preemptions *int     `placeholder:"N" help:"Execute all schedules with at most N preemptions, by strategy chess, and then end; with --strategy dpor only some of those that are equivalent."`
	Delays      *int     `placeholder:"N" help:"Execute all schedules with at most N delays, by strategy delay, and then end."`
	earlyFlag
	cutFlag
	NoEarlyTimeouts bool     `help:"Never let a time-out, sleep or timer end while another thread could run." xor:"early"`
	MaxSteps        int      `placeholder:"N" help:"Let an execution pass at most N scheduling points; one that does not end by then is unfinished (0, the default: ${steps}, or for C and C++ 8 times as many as the first execution needed, if that is more)."`
	NoSimplify      bool     `help:"Do not simplify the trace."`
	Ignore          []string `placeholder:"FINDING|FILE" predictor:"file" sep:"none" help:"Pass over a finding: do not end the search at it, count it, and do not let it change the exit status. FINDING is its key, as heddle prints it; FILE is a trace that shows it, or a text file with a key on each line. Can be repeated."`
	All             bool     `help:"Go on after a finding until the search ends for another reason, and report every distinct one, each with its own trace."`
}

// cutFlag says which executions are cut.
type cutFlag struct {
	Cut *int `placeholder:"N" help:"Cut every execution under a random schedule, and the first one, after N scheduling points, as if the program ended there; 0: none. By default, if the first execution has more than 20,000, part of the others are cut after 2,000 to 20,000, so that the beginnings of more executions are explored."`
}

func (f cutFlag) checkCut() error {
	if n := f.Cut; n != nil && (*n < 0 || *n > mostCut) {
		return usage.Errorf("--cut %d is not a number of scheduling points: want 0 to %d", *n, mostCut)
	}
	return nil
}

// mostCut is the largest budget of --cut.
const mostCut = 1_000_000

// bounds are those of an exhaustive search.
func (f searchFlags) bounds() strategy.Bounds {
	return strategy.Bounds{Preemptions: f.Preemptions, Delays: f.Delays}
}

// chosen reports whether the flags name a strategy.
func (f searchFlags) chosen() bool {
	return len(f.Strategy) > 0 || f.bounds() != (strategy.Bounds{})
}

// options returns the options of a search that the flags set.
func (f searchFlags) options() (engine.Options, error) {
	opts := engine.Options{
		Seed: f.Seed, MaxSteps: f.MaxSteps, NoSimplify: f.NoSimplify,
		EarlyTimeouts: f.EarlyTimeouts, NoEarlyTimeouts: f.NoEarlyTimeouts, StopWhenSequential: true,
	}
	opts.All, opts.Cut = f.All, f.Cut
	err := f.checkCut()
	if err != nil {
		return opts, err
	}
	if opts.Ignore, err = ignore.Keys(f.Ignore); err != nil {
		return opts, err
	}
	if opts.Search, err = strategy.ParseSearch(f.Strategy, f.bounds()); err != nil {
		return opts, usage.Wrap(err)
	}
	return opts, nil
}

// drawFlags say how an execution is drawn.
type drawFlags struct {
	Full   bool `help:"Show every event, and fold nothing."`
	Stacks bool `help:"Show the call stack of each thread that had not ended."`
}

type statsFlag struct {
	Stats bool `help:"Print how the search went, and tables of what simplification did."`
}

// traceArg is the trace that a command reads.
type traceArg struct {
	Trace string `arg:"" predictor:"trace" help:"The trace."`
}

// debuggerFlag is a flag with an optional value; without one it is "gdb".
type debuggerFlag string

func (debuggerFlag) IsBool() bool { return true }

func (d *debuggerFlag) Decode(ctx *kong.DecodeContext) error {
	*d = "gdb"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*d = debuggerFlag(fmt.Sprint(ctx.Scan.Pop().Value))
	}
	return nil
}

// whyFlag turns off the explanation of findings.
type whyFlag struct {
	NoExplain bool `help:"Do not look for the ordering of two events on which a finding depends, which takes ten seconds at most."`
}
