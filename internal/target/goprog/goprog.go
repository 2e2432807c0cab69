package goprog

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Config says what to run.
type Config struct {
	Path  string   // an executable built with the overlay
	Args  []string // Args[0] as the program will see it
	Dir   string   // working directory, empty for the current one
	Env   []string // nil for heddle's own
	Stdin []byte   // standard input; empty if nil
	// Test says that Path is a test binary and that Args makes it run one test repeatedly.
	// Otherwise Path is a program, and one execution is its whole main.
	Test bool
	// Parallel is how many tests run in parallel if Args does not say; 0 for as many as Go says.
	Parallel int
	// Fresh gives every execution a process of its own, without warm-up: for programs that cannot
	// run twice in one process.
	Fresh bool
	// NoLeaks permits goroutines that outlive the execution. LeakIgnore names functions whose
	// goroutines may, whatever NoLeaks says.
	NoLeaks    bool
	LeakIgnore []string
	// Cover is a file to which each execution of a binary built with -cover adds its counters; empty for none.
	Cover string
	// Exec are the words of a command that executes the program, which follows them: go test's -exec.
	Exec []string
	// PerProcess is how many executions Stream runs in one process, 0 for 5,000. Changes that a test
	// makes to global variables and timers accumulate over them.
	PerProcess int
	// Watchdog is how long the program may go without reaching a scheduling point or ending an
	// execution before the execution is a hang; 0 for 10 s.
	Watchdog time.Duration
	Version  string // heddle's, for traces
	// Memory bounds the memory for recording an execution, in bytes; 0 for no bound.
	Memory int64
	// Randomize gives each process a random address layout, which is otherwise fixed where the system
	// allows it.
	Randomize bool
	// ExpectOutput and Oracle judge the output of executions. They are those of trace.Header, in
	// which they are found again; a target does not judge.
	ExpectOutput []byte
	Oracle       string
	// Build identifies the build, for traces; empty for the executable's build id.
	Build string
}

// Target is a Go program or test. It implements target.Target.
type Target struct {
	cfg       Config
	exe       executable
	header    trace.Header
	cold      atomic.Bool      // the program cannot run twice in a process: each execution gets its own, without warm-up
	isolation target.Isolation // of a program that can
	launched  int              // processes for a Stream with target.SomeNew
	coldInRow int              // new processes used since the last shared one
	spares    []*spare
	alone     bool // no process is started before another has ended
	loop      ipc.Loop
	own       bool // the execution that runs, or has just run, has a process of its own
	streaming bool // executions follow one another in a process
}

var (
	_ target.Target          = (*Target)(nil)
	_ target.DebugLaunchable = (*Target)(nil)
	_ target.RaceWatcher     = (*Target)(nil)
	_ target.Sharer          = (*Target)(nil)
	_ target.Isolator        = (*Target)(nil)
	_ target.Positioned      = (*Target)(nil)
)

// RefusedError says why heddle cannot run a program.
type RefusedError = ipc.RefusedError

// Start launches the program and waits until it takes plans. A *RefusedError says in one sentence
// why heddle cannot run the program.
func Start(ctx context.Context, cfg Config) (*Target, error) {
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Watchdog == 0 {
		cfg.Watchdog = 10 * time.Second
	}
	if cfg.PerProcess == 0 {
		cfg.PerProcess = 5000
	}
	exe, err := inspect(cfg.Path)
	if err != nil {
		return nil, err
	}
	t := &Target{cfg: cfg, exe: exe}
	t.cold.Store(!cfg.Test || cfg.Fresh)
	// Which executions have run in a process must not depend on time: those no longer wanted are
	// never run.
	t.loop = ipc.Loop{Program: program{t}, Watchdog: cfg.Watchdog, Memory: cfg.Memory, Drain: 0}
	t.header = trace.Header{
		Heddle: cfg.Version, Target: "go", PointsVersion: schedule.PointsVersion,
		Command: append([]string{cfg.Path}, cfg.Args[1:]...), Dir: cfg.Dir, Stdin: cfg.Stdin,
		EnvDigest: ipc.EnvDigest(cfg.Env), BuildID: exe.buildID, Instrumented: true,
		ExpectOutput: cfg.ExpectOutput, Oracle: cfg.Oracle,
	}
	if cfg.Build != "" {
		t.header.BuildID = cfg.Build
	}
	p, err := t.launch(ctx)
	if err != nil {
		return nil, err
	}
	t.spares = []*spare{ready(p, t.cold.Load())}
	return t, nil
}

// Header implements target.Target. It says if a test's execution had a process of its own, because
// it may differ from that of the same plan in a process that has been warmed up.
func (t *Target) Header() trace.Header {
	h := t.header
	if t.cfg.Test && (t.Cold() || t.streaming && t.isolation == target.SomeNew && t.own) {
		h.Isolation = trace.IsolationProcess
	}
	return h
}

// WatchesRaces implements target.RaceWatcher.
func (t *Target) WatchesRaces() bool { return true }

// Shares implements target.Sharer.
func (t *Target) Shares() bool { return !t.Cold() }

// Isolate implements target.Isolator.
func (t *Target) Isolate(how target.Isolation) (before target.Isolation) {
	before = t.Isolation()
	t.isolation = how
	return before
}

// Isolation implements target.Isolator.
func (t *Target) Isolation() target.Isolation {
	if t.cold.Load() {
		return target.EachNew
	}
	return t.isolation
}

// Position implements target.Positioned.
func (t *Target) Position() (target.Position, bool) { return t.loop.Position() }

// Expire implements target.Positioned.
func (t *Target) Expire(at target.Position) { t.loop.Expire(at) }

// Modules returns the executable, the program's only module.
func (t *Target) Modules() []trace.Module {
	return []trace.Module{{Path: t.cfg.Path, BuildID: t.exe.buildID, Program: true}}
}

// Cold reports whether each execution has a process of its own, without warm-up, because Isolate said
// so or the test failed in its warm-up; it is true of every program that is not a test. It may become
// true at any execution.
func (t *Target) Cold() bool { return t.Isolation() == target.EachNew }

// Run runs one execution, in a process that has run nothing but the warm-up.
func (t *Target) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	defer t.loop.Close()
	return t.loop.Run(ctx, p)
}

// Stream implements target.Target. It begins with a fresh process, so that its outcomes depend on
// its plans only.
func (t *Target) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	t.streaming = true
	defer func() {
		t.streaming = false
		t.loop.Close()
	}()
	return t.loop.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		o.Shared = !t.own
		return done(p, o)
	})
}

// Close ends all processes.
func (t *Target) Close() error {
	t.loop.Close()
	t.drop()
	return nil
}
