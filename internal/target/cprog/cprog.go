package cprog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Config says what to run.
type Config struct {
	Path    string   // the program
	Args    []string // Args[0] as the program will see it
	Dir     string   // working directory, empty for the current one
	Env     []string // nil for heddle's own
	Stdin   []byte   // what the program reads; nothing if nil
	Runtime string   // the runtime's shared object
	Donors  int      // threads made beforehand, 0 for a default; more are made when needed
	// Watchdog is how long the program may go without reaching a scheduling point or
	// ending an execution before that is called a hang; 0 for 10 s.
	Watchdog time.Duration
	Version  string // heddle's, for traces
	// Memory bounds what is recorded of an execution, in bytes; 0 for no bound.
	Memory int64
	// Sign, if it is set, gives the header of the program's traces its signature.
	Sign func(*trace.Header)

	// Isolation is what lies between one execution and the next. Automatic begins with
	// Snapshot and takes more when the program does what needs it.
	Isolation Isolation
	// Threads gives each of the program's threads a kernel thread of its own, for debuggers
	// and for what the carrier's cannot do. Executions then are launched one by one.
	Threads bool
	// Tell is given a sentence, without a full stop, for the user, when automatic isolation
	// has found that the program needs more. May be nil.
	Tell func(string)

	// Without are synchronisation calls that are left out, CALL@FILE:LINE each. They return
	// success at once and leave no event; the unlock that belongs to a lock that was not
	// taken is left out too.
	Without []string

	// Modules are those of a recording that is to be followed. What the program loads while
	// it runs is numbered as it is there.
	Modules []trace.Module
}

// Target is a C or C++ program, ready at main. It implements target.Target.
type Target struct {
	cfg     Config
	loop    ipc.Loop
	header  trace.Header
	modules []trace.Module
	loaded  []loaded
	early   int          // modules that were loaded at main
	late    []abi.Module // those that some process has loaded later
	used    int          // how many of late the present execution refers to
	shm     *abi.Shm     // of the process in use, nil if none exists
	heapLo  uint64
	heapHi  uint64

	isolation    Isolation     // in use
	ignoredSites []ignoredSite // of cfg.Without, once they were looked for
	ignoredTimes []uint64      // how often each was ignored, in processes that have ended
}

var (
	_ target.Target     = (*Target)(nil)
	_ target.Stillness  = (*Target)(nil)
	_ target.Omitter    = (*Target)(nil)
	_ target.Debuggable = (*Target)(nil)
)

// RefusedError says why heddle cannot run a program.
type RefusedError = ipc.RefusedError

// Start launches the program and waits until it stands at main. A *RefusedError says
// that heddle cannot carry the program, a *WithoutError what is wrong with Config.Without,
// in one sentence.
func Start(ctx context.Context, cfg Config) (*Target, error) {
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Watchdog == 0 {
		cfg.Watchdog = 10 * time.Second
	}
	if cfg.Donors == 0 {
		cfg.Donors = 8
	}
	if err := CheckWithout(cfg.Without); err != nil {
		return nil, err
	}
	t := &Target{cfg: cfg}
	t.loop = ipc.Loop{Program: program{t}, Watchdog: cfg.Watchdog, Memory: cfg.Memory, Again: t.again}
	t.isolate(max(cfg.Isolation, Snapshot))
	if cfg.Threads {
		t.isolate(Process)
	}
	if err := t.loop.Renew(ctx); err != nil {
		return nil, err
	}
	if err := t.describe(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Target) describe() error {
	h := trace.Header{
		Heddle: t.cfg.Version, Target: "c", PointsVersion: schedule.PointsVersion,
		Command: append([]string{t.cfg.Path}, t.cfg.Args[1:]...), Dir: t.cfg.Dir, Stdin: t.cfg.Stdin,
		Instrumented: t.loop.Process().Shm().Instrumented == abi.InstrTsan,
		EnvDigest:    ipc.EnvDigest(t.cfg.Env),
		Surroundings: ipc.Surroundings(t.cfg.Env),
		Without:      t.cfg.Without,
	}
	if t.cfg.Args[0] != t.cfg.Path {
		h.Argv0 = t.cfg.Args[0]
	}
	for _, m := range t.modules {
		if m.Program {
			h.BuildID = m.BuildID
		}
	}
	if h.BuildID == "" {
		b, err := os.ReadFile(t.cfg.Path)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", t.cfg.Path, ipc.Plain(err))
		}
		sum := sha256.Sum256(b)
		h.BuildID = "sha256:" + hex.EncodeToString(sum[:])
	}
	t.header = h
	t.sign()
	return nil
}

// sign completes the header with what the isolation in use decides: a replay takes it from
// the trace, so the signature covers it.
func (t *Target) sign() {
	t.header.Isolation, t.header.Signature = "", ""
	if t.isolation != Snapshot {
		t.header.Isolation = t.isolation.String()
	}
	if t.cfg.Sign != nil {
		t.cfg.Sign(&t.header)
	}
}

// Header describes the program.
func (t *Target) Header() trace.Header { return t.header }

// Modules lists what the program has loaded at main, and then what executions have loaded.
func (t *Target) Modules() []trace.Module { return slices.Clone(t.modules) }

// SnapshotPages is the number of memory pages put back after each execution.
func (t *Target) SnapshotPages() int { return int(t.loop.Process().Shm().NprocPages) }

// Pid is the process id of the program, for measurements.
func (t *Target) Pid() int { return t.loop.Process().Pid() }

// Still implements target.Stillness.
func (t *Target) Still() time.Duration { return t.loop.Still() }

// Close ends the program.
func (t *Target) Close() error {
	t.loop.Close()
	return nil
}

// Run does one execution.
func (t *Target) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	return t.loop.Run(ctx, p)
}

// Stream implements target.Target.
func (t *Target) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return t.loop.Stream(ctx, next, done)
}
