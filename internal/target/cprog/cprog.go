package cprog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target"
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
}

// Target is a C or C++ program, ready at main. It implements target.Target.
type Target struct {
	cfg     Config
	proc    *process
	header  trace.Header
	modules []trace.Module
	loaded  []loaded
	heapLo  uint64
	heapHi  uint64

	nextID     uint64
	points     []trace.Site
	pointsSent bool
}

var _ target.Target = (*Target)(nil)

// Start launches the program and waits until it stands at main. A *RefusedError says
// that heddle cannot carry the program, in one sentence.
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
	t := &Target{cfg: cfg}
	if err := t.launch(ctx); err != nil {
		return nil, err
	}
	if err := t.describe(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Target) launch(ctx context.Context) error {
	p, err := launch(ctx, &t.cfg)
	if err != nil {
		return err
	}
	t.proc = p
	t.pointsSent = false
	t.readModules()
	return nil
}

func (t *Target) describe() error {
	h := trace.Header{
		Heddle: t.cfg.Version, Target: "c", PointsVersion: schedule.PointsVersion,
		Command: append([]string{t.cfg.Path}, t.cfg.Args[1:]...), Dir: t.cfg.Dir, Stdin: t.cfg.Stdin,
		Instrumented: t.proc.shm.Instrumented == abi.InstrTsan,
	}
	env := slices.Clone(t.cfg.Env)
	slices.Sort(env)
	sum := sha256.Sum256([]byte(strings.Join(env, "\x00")))
	h.EnvDigest = hex.EncodeToString(sum[:8])
	for _, m := range t.modules {
		if m.Program {
			h.BuildID = m.BuildID
		}
	}
	if h.BuildID == "" {
		b, err := os.ReadFile(t.cfg.Path)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", t.cfg.Path, plain(err))
		}
		sum := sha256.Sum256(b)
		h.BuildID = "sha256:" + hex.EncodeToString(sum[:])
	}
	t.header = h
	return nil
}

// Header describes the program.
func (t *Target) Header() trace.Header { return t.header }

// Modules lists what the program has loaded.
func (t *Target) Modules() []trace.Module { return slices.Clone(t.modules) }

// SnapshotPages is the number of memory pages put back after each execution.
func (t *Target) SnapshotPages() int { return int(t.proc.shm.NprocPages) }

// Pid is the process id of the program, for measurements.
func (t *Target) Pid() int { return t.proc.cmd.Process.Pid }

// Close ends the program.
func (t *Target) Close() error {
	if t.proc != nil && t.proc.mem != nil {
		t.proc.kill()
	}
	return nil
}

// Run does one execution.
func (t *Target) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	p.Repeat = 1
	var out schedule.Outcome
	got, sent := false, false
	err := t.Stream(ctx, func() (schedule.Plan, bool) {
		first := !sent
		sent = true
		return p, first
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		out, got = o, true
		return true
	})
	if err == nil && !got {
		err = errors.New("the runtime ended a plan without running it")
	}
	return out, err
}

// queued is a plan the runtime has been given.
type queued struct {
	id    uint64
	plan  schedule.Plan
	bytes []byte // kept until it is certain that the runtime has it
}

const maxQueued = 64

// Stream implements target.Target.
func (t *Target) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	if t.proc == nil || t.proc.mem == nil || !t.proc.alive() {
		if err := t.launch(ctx); err != nil {
			return err
		}
	}
	var queue []queued
	var unsent *queued
	var x execution
	more, stopped := true, false
	dog := watchdog{t: t}
	for {
		for more && !stopped && len(queue) < maxQueued {
			if unsent == nil {
				p, ok := next()
				if !ok {
					more = false
					break
				}
				t.nextID++
				b, err := t.encode(t.nextID, &p)
				if err != nil {
					return err
				}
				unsent = &queued{t.nextID, p, b}
			}
			if !t.proc.plans.put(1, unsent.bytes) {
				break
			}
			t.points, t.pointsSent = unsent.plan.Points, true
			queue = append(queue, *unsent)
			unsent = nil
		}
		if len(queue) == 0 && (stopped || !more && unsent == nil) {
			return nil
		}
		kind, b, ok := t.proc.results.next()
		if !ok {
			if err := ctx.Err(); err != nil {
				t.proc.kill() // whatever is queued must not run into the next call
				return err
			}
			killed, err := dog.look(ctx)
			if err != nil {
				return err
			}
			if killed {
				// The program had to be killed: its execution is a hang, the plans after
				// it start in a new process.
				o := schedule.Outcome{Ending: trace.Ending{Kind: trace.Hang, Message: "watchdog: killed, because the program did not answer"}}
				q := queue[0]
				x.reset()
				if !done(q.plan, o) {
					stopped = true
				}
				if stopped || len(queue) == 1 && !more && unsent == nil {
					return nil
				}
				if err := t.requeue(ctx, queue[1:]); err != nil {
					return err
				}
				queue = queue[1:]
				continue
			}
			t.proc.results.wait(50 * time.Millisecond)
			continue
		}
		dog.seen()
		if kind == abi.RecPlanEnd {
			t.proc.results.releaseNext()
			queue = queue[1:]
			continue
		}
		r, err := x.add(kind, b)
		t.proc.results.releaseNext()
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		if len(queue) == 0 || r.Plan != queue[0].id {
			return fmt.Errorf("the runtime reported on plan %d, which was not asked for", r.Plan)
		}
		if !stopped {
			o := t.outcome(&queue[0].plan, &x, r)
			if !done(queue[0].plan, o) {
				stopped = true
				if rest := queue[0].plan.Repeat - int(r.Index) - 1; rest > 0 || len(queue) > 1 {
					// What is queued would run for nothing; a new process is cheaper to have
					// than to wait, unless there is little left.
					if t.backlog(queue, int(r.Index)) > 2000 {
						t.proc.kill()
						return nil
					}
				}
			}
		}
		x.reset()
	}
}

func (t *Target) backlog(queue []queued, index int) int {
	n := -index
	for _, q := range queue {
		n += max(q.plan.Repeat, 1)
	}
	return n
}

func (t *Target) requeue(ctx context.Context, queue []queued) error {
	if err := t.launch(ctx); err != nil {
		return err
	}
	for i := range queue {
		b, err := t.encode(queue[i].id, &queue[i].plan)
		if err != nil {
			return err
		}
		if !t.proc.plans.put(1, b) {
			return errors.New("the plans that were queued do not fit a new process")
		}
		t.points, t.pointsSent = queue[i].plan.Points, true
	}
	return nil
}

// watchdog tells a program that computes or blocks without scheduling points.
type watchdog struct {
	t     *Target
	beat  uint64
	since time.Time
	asked bool
}

func (w *watchdog) seen() { w.since = time.Time{} }

// look is called when there is nothing to read. It reports that the program was killed,
// or an error if it was lost.
func (w *watchdog) look(ctx context.Context) (killed bool, err error) {
	p := w.t.proc
	if !p.alive() {
		// It may have written its last words before it went.
		if p.results.head() != p.results.tail() {
			return false, nil
		}
		err := p.failure()
		p.unmap()
		return false, err
	}
	if s := p.state(); s == abi.StateRefused || s == abi.StateFatal {
		<-p.dead
		err := p.failure()
		p.unmap()
		return false, err
	}
	beat := atomic.LoadUint64(&p.shm.Heartbeat)
	now := time.Now()
	if w.since.IsZero() || beat != w.beat {
		w.beat, w.since, w.asked = beat, now, false
		return false, nil
	}
	switch waited := now.Sub(w.since); {
	case waited > w.t.cfg.Watchdog+2*time.Second:
		p.kill()
		return true, nil
	case waited > w.t.cfg.Watchdog && !w.asked:
		// The runtime's handler ends the execution as a hang at the instruction it
		// finds running, if it is the program's.
		w.asked = true
		unix.Kill(p.cmd.Process.Pid, unix.SIGURG)
	}
	return false, nil
}
