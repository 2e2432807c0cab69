package cprog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Config says what to run.
type Config struct {
	Path    string   // of the program's file
	Args    []string // Args[0] as the program will see it
	Dir     string   // working directory, empty for the current one
	Env     []string // nil for heddle's own
	Stdin   []byte   // standard input; empty if nil
	Runtime string   // the runtime's shared object
	Hosts   int      // kernel threads created in advance, 0 for a default; more are created when needed
	// Watchdog is how long the program may go without reaching a scheduling point or ending an
	// execution before the execution is a hang; 0 for 10 s.
	Watchdog time.Duration
	Version  string // heddle's, for traces
	// Memory bounds the memory for recording an execution, in bytes; 0 for no bound.
	Memory int64
	// Sign, if not nil, adds the signature to the header of the program's traces.
	Sign func(*trace.Header)

	// Isolation separates one execution from the next. Automatic begins with Snapshot and uses a
	// stronger one when the program needs it.
	Isolation Isolation
	// Threads gives each of the program's threads a kernel thread of its own, for debuggers and for
	// operations that the carrier's fibers cannot do. Executions are launched one by one then.
	Threads bool
	// Randomize gives each process a random address layout, which is otherwise fixed where the system
	// allows it.
	Randomize bool
	// Tell, if not nil, gets a sentence for the user, without a full stop, when automatic isolation
	// has found that the program needs more.
	Tell func(string)

	// Omit lists synchronisation calls to omit, CALL@FILE:LINE each. They return success at once
	// and leave no event; the unlock that belongs to an omitted lock is omitted too.
	Omit []string
	// TryLock lists ranges of lines that threads execute with a lock held, LOCK@FILE:FROM-TO each. LOCK is a
	// mutex among the program's variables, or else a lock of its own, which ranges with the same name share.
	TryLock []string

	// ExpectOutput and Oracle judge the output of executions. They are those of trace.Header, in
	// whose copies in recordings the caller finds them.
	ExpectOutput []byte
	Oracle       string

	// Modules are those of a recording to replay. Modules that the program loads while it runs get
	// their numbers from there.
	Modules []trace.Module

	setUp      setUp
	beside     bool        // other targets of the program run at the same time
	statements *statements // shared with them
}

// Target is a C or C++ program, stopped at main. It implements target.Target.
type Target struct {
	cfg     Config
	loop    ipc.Loop
	header  trace.Header
	modules []trace.Module
	scan    scan       // see Uncontrolled
	listing sync.Mutex // held to change modules, and to read them outside of Run and Stream
	loaded  []loaded
	early   int             // number of modules loaded at main
	late    []abi.Module    // those that any process has loaded later
	used    int             // how many of late the current execution refers to
	shm     *abi.Shm        // of the process in use, nil if none is
	visited map[string]bool // paths of libraries, see Visited; without those that only the process in use has visited
	heapLo  uint64
	// The initial stack: the vectors of pointers from argv on, then the strings.
	vectors, strings, stringsEnd uint64
	heapHi                       uint64

	isolation    Isolation     // in use
	fast         bool          // it is Fork only because executions can share a long set-up: Snapshot would do
	omittedSites []omittedSite // of cfg.Omit, once resolved
	omittedTimes []uint64      // how often each was omitted, in processes that have ended
	tries        *tries        // cfg.TryLock, once resolved
	triedTimes   []uint64      // how often each range was entered, in processes that have ended
}

var (
	_ target.Target     = (*Target)(nil)
	_ target.Positioned = (*Target)(nil)
	_ target.Omitter    = (*Target)(nil)
	_ target.LockTrier  = (*Target)(nil)
	_ target.Debuggable = (*Target)(nil)
	_ target.Replicator = (*Target)(nil)
	_ target.Visited    = (*Target)(nil)
)

// RefusedError says why heddle cannot run a program.
type RefusedError = ipc.RefusedError

// Start launches the program and waits until it has stopped at main. A *RefusedError says in one
// sentence why heddle cannot run the program, a *OmitError or *TryLockError what is
// wrong with Config.Omit or Config.TryLock.
func Start(ctx context.Context, cfg Config) (*Target, error) {
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Watchdog == 0 {
		cfg.Watchdog = 10 * time.Second
	}
	if cfg.Hosts == 0 {
		cfg.Hosts = 8
	}
	if err := CheckOmit(cfg.Omit); err != nil {
		return nil, err
	}
	if err := CheckTryLock(cfg.TryLock); err != nil {
		return nil, err
	}
	if len(cfg.Omit) > 0 && len(cfg.TryLock) > 0 {
		return nil, badTry("calls cannot be omitted (--omit) while a lock is tried (--try-lock)")
	}
	if cfg.statements == nil {
		cfg.statements = &statements{}
	}
	t := &Target{cfg: cfg, visited: map[string]bool{}}
	t.loop = ipc.Loop{Program: program{t}, Watchdog: cfg.Watchdog, Memory: cfg.Memory, Again: t.again, Stale: t.stale}
	t.isolate(max(cfg.Isolation, Snapshot))
	if cfg.Threads {
		t.isolate(Process)
	}
	t.fast = cfg.setUp == setUpFast
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
		Omit:         t.cfg.Omit,
		TryLock:      t.cfg.TryLock,
		ExpectOutput: t.cfg.ExpectOutput,
		Oracle:       t.cfg.Oracle,
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

// sign adds to the header what the isolation in use decides. A replay takes it from the trace, so
// the signature covers it.
func (t *Target) sign() {
	t.header.Isolation, t.header.Signature = "", ""
	if t.isolation != Snapshot && !t.fast {
		t.header.Isolation = t.isolation.String()
	}
	if t.cfg.Sign != nil {
		t.cfg.Sign(&t.header)
	}
}

// Header implements target.Target.
func (t *Target) Header() trace.Header { return t.header }

// Modules returns the modules loaded at main, followed by those that executions have loaded.
func (t *Target) Modules() []trace.Module {
	t.listing.Lock()
	defer t.listing.Unlock()
	return slices.Clone(t.modules)
}

// SnapshotPages returns the number of memory pages restored after each execution.
func (t *Target) SnapshotPages() int { return int(t.loop.Process().Shm().NprocPages) }

// Pid returns the process id of the program, for measurements.
func (t *Target) Pid() int { return t.loop.Process().Pid() }

// Position implements target.Positioned.
func (t *Target) Position() (target.Position, bool) { return t.loop.Position() }

// Expire implements target.Positioned.
func (t *Target) Expire(at target.Position) { t.loop.Expire(at) }

// Close ends the program.
func (t *Target) Close() error {
	t.loop.Close()
	return nil
}

// Run implements target.Target.
func (t *Target) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	return t.loop.Run(ctx, p)
}

// Stream implements target.Target.
func (t *Target) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return t.loop.Stream(ctx, next, done)
}

// WatchesRaces implements target.RaceWatcher.
func (t *Target) WatchesRaces() bool { return true }

// Replica implements target.Replicator. An execution of a replica that needs more isolation, or would
// change a file, is unsupported. A program that needs more than Snapshot may share memory or
// processes with what runs beside it.
func (t *Target) Replica() func(context.Context) (target.Target, error) {
	if t.isolation != Snapshot && !t.fast || len(t.cfg.Omit) > 0 || len(t.cfg.TryLock) > 0 { // the target counts what is omitted and tried
		return nil
	}
	cfg := t.cfg
	cfg.Modules, cfg.Isolation, cfg.Tell, cfg.beside = t.Modules(), Snapshot, nil, true
	if t.fast {
		cfg.Isolation, cfg.setUp = Fork, setUpFast
	}
	return func(ctx context.Context) (target.Target, error) { return Start(ctx, cfg) }
}
