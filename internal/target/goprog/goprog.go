package goprog

import (
	"context"
	"os"
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
	Stdin []byte   // what the program reads; nothing if nil
	// Test says that Path is a test binary that Args makes run one test, over and over.
	// Otherwise it is a program, and one execution is all of its main.
	Test bool
	// Fresh gives every execution a process of its own, without warm-up: for programs that cannot
	// run twice in one process.
	Fresh bool
	// NoLeaks lets goroutines be left behind. LeakIgnore names functions whose goroutines
	// may be, whatever NoLeaks says.
	NoLeaks    bool
	LeakIgnore []string
	// PerProcess is how many executions Stream does in one process, 0 for 200. What a test
	// leaves in global variables and timers adds up over them.
	PerProcess int
	// Watchdog is how long the program may go without reaching a scheduling point or
	// ending an execution before that is called a hang; 0 for 10 s.
	Watchdog time.Duration
	Version  string // heddle's, for traces
	// Memory bounds what is recorded of an execution, in bytes; 0 for no bound.
	Memory int64
	// Build identifies what was built, for traces; empty for the executable's build id.
	Build string
}

// Target is a Go program or test. It implements target.Target.
type Target struct {
	cfg       Config
	exe       executable
	header    trace.Header
	cold      bool // executions get a process each, without warm-up
	spare     *spare
	loop      ipc.Loop
	streaming bool // executions follow one another in a process
}

var (
	_ target.Target          = (*Target)(nil)
	_ target.DebugLaunchable = (*Target)(nil)
)

// RefusedError says why heddle cannot run a program.
type RefusedError = ipc.RefusedError

// Start launches the program and waits until it takes plans. A *RefusedError says that
// heddle cannot carry the program, in one sentence.
func Start(ctx context.Context, cfg Config) (*Target, error) {
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Watchdog == 0 {
		cfg.Watchdog = 10 * time.Second
	}
	if cfg.PerProcess == 0 {
		cfg.PerProcess = 200
	}
	exe, err := inspect(cfg.Path)
	if err != nil {
		return nil, err
	}
	t := &Target{cfg: cfg, exe: exe, cold: !cfg.Test || cfg.Fresh}
	// Which executions have run in a process must not depend on time: those that nobody
	// waits for any more are never run.
	t.loop = ipc.Loop{Program: program{t}, Watchdog: cfg.Watchdog, Memory: cfg.Memory, Drain: 0}
	t.header = trace.Header{
		Heddle: cfg.Version, Target: "go", PointsVersion: schedule.PointsVersion,
		Command: append([]string{cfg.Path}, cfg.Args[1:]...), Dir: cfg.Dir, Stdin: cfg.Stdin,
		EnvDigest: ipc.EnvDigest(cfg.Env), BuildID: exe.buildID, Instrumented: true,
	}
	if cfg.Build != "" {
		t.header.BuildID = cfg.Build
	}
	p, err := t.launch(ctx)
	if err != nil {
		return nil, err
	}
	t.spare = ready(p)
	return t, nil
}

// Header describes the program.
func (t *Target) Header() trace.Header { return t.header }

// Modules is the executable.
func (t *Target) Modules() []trace.Module {
	return []trace.Module{{Path: t.cfg.Path, BuildID: t.exe.buildID, Program: true}}
}

// Cold reports that the test failed while it warmed up, so that each execution has a
// process of its own; it is true of every program that is not a test. It may become true at
// any execution.
func (t *Target) Cold() bool { return t.cold }

// Run does one execution, in a process that has done none before but the warm-up.
func (t *Target) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	defer t.loop.Close()
	return t.loop.Run(ctx, p)
}

// Stream implements target.Target. It begins with a fresh process, so that what it gives
// depends on its plans only.
func (t *Target) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	t.streaming = true
	defer func() {
		t.streaming = false
		t.loop.Close()
	}()
	return t.loop.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		o.Shared = !t.cold
		return done(p, o)
	})
}

// Close ends all processes.
func (t *Target) Close() error {
	t.loop.Close()
	if t.spare != nil {
		t.spare.drop()
		t.spare = nil
	}
	return nil
}
