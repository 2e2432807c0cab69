package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// Program is a program to be executed, any number of times, from several goroutines at once.
type Program struct {
	cfg   Config
	calls []symbol.CallSite // of hooks that may be left out, accesses
	// functions are the same for the hooks of entry and exit, which the stacks need.
	functions []symbol.CallSite
	stacks    stackTable
}

// Config says what to execute.
type Config struct {
	Path    string
	Args    []string // argv
	Dir     string
	Env     []string
	Stdin   []byte
	Library string // of the backend; see toolchain.BuildLive
	// Modules are the program and the libraries whose instructions targets name, as in trace.Site.
	Modules []trace.Module
}

// hooks are the functions whose calls may be left out: they only announce an access.
var hooks = func() (names []string) {
	for _, size := range []string{"1", "2", "4", "8", "16"} {
		for _, kind := range []string{"read", "write", "read_write", "volatile_read", "volatile_write"} {
			names = append(names, "__tsan_"+kind+size, "__tsan_unaligned_"+kind+size)
		}
	}
	return append(names, "__tsan_read_range", "__tsan_write_range", "__tsan_vptr_read", "__tsan_vptr_update")
}()

// functions are the functions that announce the entry and exit of a function.
var functions = []string{"__tsan_func_entry", "__tsan_func_exit"}

// New prepares a program. Modules beyond those that a control file can name are left out.
func New(cfg Config) *Program {
	cfg.Modules = cfg.Modules[:min(len(cfg.Modules), maxModules)]
	names := symbol.New(cfg.Modules, symbol.Options{})
	return &Program{cfg: cfg, calls: names.CallsTo(hooks, nil), functions: names.CallsTo(functions, nil)}
}

// Target is an interleaving to bring about: see struct hl_target. Sites that are 0 do not count.
type Target struct {
	P, C, R          trace.Site
	OuterC, OuterR   trace.Site
	ThreadC, ThreadR int // number of the only thread meant, in order of creation; -1 for any
	// Stay lets the thread before c wait for the limit of the suspension, however often others do r meanwhile.
	Stay bool
	// StackC and StackR are the only stacks of calls meant, as NameOfStack names them; 0 for any. With OuterC
	// or OuterR they do not count.
	StackC, StackR uint64
}

// Request is one execution.
type Request struct {
	Mode    Mode
	Seed    uint64
	Targets []Target
	Suspend time.Duration // limit of a suspension; for Delay the longest delay
	Pass    time.Duration // how long the thread before c waits for r to be done
	Budget  int           // suspensions for each target
	Most    int           // events that a thread records
	// Stacks has the calls recorded as well, for the stacks of the events.
	Stacks bool
	// Values, with Profile, has every access recorded with its value, and the events that only heddle sanitize and
	// heddle compare need.
	Values bool
	// OnlyShared, with Profile, has of the plain accesses only those of the instructions Sharing recorded, and Result.Sharing told.
	OnlyShared bool
	Sharing    []trace.Site
	// Hooks keeps all calls of hooks. Otherwise those that have nothing to do are left out.
	Hooks bool
	Limit time.Duration // of the execution
	// Idle ends an execution whose threads have used no processor time for so long: most often a
	// deadlock. 0: never.
	Idle time.Duration
}

// Result is what an execution did.
type Result struct {
	Status  int            // exit status, -1 if a signal or the limit ended it
	Signal  syscall.Signal // 0 for none
	Expired bool           // the limit ended it
	Idle    bool           // it used no processor time for Request.Idle, which ended it
	Seconds float64
	CPU     float64 // seconds of processor time
	Output  []byte  // both streams, at most outputMost bytes
	Counts  []Counts
	Threads int
	Lost    int // events that were not recorded
	Refused int // calls that could not be left out
	// Sharing are, with Request.OnlyShared, the instructions that accessed memory which several threads accessed while there were
	// several, at least one of them to write, in ascending order. SharingCut: more than mostFound. If Request.Sharing has all
	// of them, the recording has every access to that memory.
	Sharing    []trace.Site
	SharingCut bool
	Trace      *trace.Trace
	Times      []uint64 // of the trace's events
}

// mostFound bounds the instructions that are found to access shared memory.
const mostFound = 1 << 14

// outputMost bounds the output that is kept.
const outputMost = 64 << 10

// Failed reports whether the execution ended otherwise than with the status.
func (r *Result) Failed(status int) bool { return r.Status != status }

// ending is the end of a recorded execution: of the thread and at the place of the last event.
func (r *Result) ending(t *trace.Trace) trace.Ending {
	e := trace.Ending{Kind: trace.Clean, Status: int32(r.Status), Output: r.Output}
	switch {
	case r.Idle:
		e.Kind, e.Status, e.Message = trace.Unfinished, 0, trace.CutByWatchdog+": "+r.Describe()
	case r.Expired:
		e.Kind, e.Status, e.Message = trace.Unfinished, 0, trace.CutByTime+": "+r.Describe()
	case r.Signal == syscall.SIGABRT:
		e.Kind, e.Status = trace.Assertion, int32(r.Signal)
	case r.Signal != 0:
		e.Kind, e.Status = trace.Signal, int32(r.Signal)
	}
	for i := len(t.Events) - 1; i >= 0; i-- {
		if ev := &t.Events[i]; e.Kind != trace.Clean || ev.Op == trace.OpProcessExit {
			e.Thread, e.Site = ev.Thread, ev.Site
			break
		}
	}
	return e
}

// Hung reports whether heddle ended the execution because it went on for too long, or waited for too long.
func (r *Result) Hung() bool { return r.Idle || r.Expired }

// Ending says how the execution ended, without what it wrote, so that failures of one kind can be compared.
func (r *Result) Ending() string {
	switch {
	case r.Hung():
		return "hang"
	case r.Signal != 0:
		return "signal: " + r.Signal.String()
	}
	return fmt.Sprintf("exit status %d", r.Status)
}

// Describe says how the execution failed.
func (r *Result) Describe() string {
	how := r.Ending()
	switch {
	case r.Idle:
		how = "its threads wait for each other, or for something that does not happen"
	case r.Expired:
		how = fmt.Sprintf("it did not end within %.0f s", r.Seconds)
	}
	lines := strings.Split(string(bytes.TrimSpace(r.Output)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" && !r.Expired && !r.Idle {
		return how + ": " + last
	}
	return how
}

// ErrLibrary means that the library could not begin. It is never a failure of the program.
var ErrLibrary = errors.New("the library of the backend live could not begin")

// Alone executes the program once without the library, to compare with. The program must not need the
// library: it is one that heddle cc has not linked.
func (p *Program) Alone(ctx context.Context, limit, idle time.Duration) (*Result, error) {
	return p.process(ctx, p.cfg.Env, limit, idle)
}

// Run executes the program once.
func (p *Program) Run(ctx context.Context, q Request) (*Result, error) {
	dir, err := os.MkdirTemp("", "heddle-live-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	control := filepath.Join(dir, "control")
	h := head{Mode: uint64(q.Mode), Seed: q.Seed, Limit: uint64(q.Suspend), Pass: uint64(q.Pass), Budget: uint64(q.Budget), Most: uint64(q.Most), Modules: uint64(len(p.cfg.Modules))}
	if copy(h.Directory[:nameSize-1], dir) < len(dir) {
		return nil, fmt.Errorf("the name of the temporary directory %s is too long: set TMPDIR", dir)
	}
	for i := range p.cfg.Modules {
		copy(h.Table[i].Path[:nameSize-1], p.cfg.Modules[i].Path)
	}
	var targets []target
	if q.stacks() {
		h.Stacks = 1
	}
	if q.Values {
		h.Values = 1
	}
	var shared []uint64
	if q.OnlyShared {
		h.Sharing, h.MostFound = 1, mostFound
		for _, s := range q.Sharing {
			shared = append(shared, place(s))
		}
		slices.Sort(shared)
	}
	for _, t := range q.Targets {
		stay := uint64(0)
		if t.Stay {
			stay = 1
		}
		targets = append(targets, target{
			Stay: stay,
			P:    place(t.P), C: place(t.C), R: place(t.R), OuterC: place(t.OuterC), OuterR: place(t.OuterR),
			ThreadC: uint32(t.ThreadC + 1), ThreadR: uint32(t.ThreadR + 1), StackC: t.StackC, StackR: t.StackR,
		})
	}
	if err := writeControl(control, &h, targets, p.patches(&q), shared); err != nil {
		return nil, err
	}

	env := append(slices.DeleteFunc(slices.Clone(p.cfg.Env), func(e string) bool { return strings.HasPrefix(e, "LD_PRELOAD=") }),
		"LD_PRELOAD="+p.cfg.Library, "LD_BIND_NOW=1", "HEDDLE_LIVE="+control)
	r, err := p.process(ctx, env, q.Limit, q.Idle)
	if err != nil {
		return nil, err
	}
	after, counted, found, err := readControl(control, &h)
	switch {
	case err != nil:
		return nil, err
	case after.Ready < 2 && !r.Expired && !r.Idle:
		return nil, fmt.Errorf("%w (exit status %d, signal %d): %s", ErrLibrary, r.Status, r.Signal, bytes.TrimSpace(r.Output))
	}
	for _, t := range counted {
		r.Counts = append(r.Counts, t.Counts)
	}
	r.Threads, r.Lost, r.Refused = int(after.Threads), int(after.Lost), int(after.Refused)
	for _, at := range found {
		if s := siteOf(at); s != 0 {
			r.Sharing = append(r.Sharing, s)
		}
	}
	slices.Sort(r.Sharing)
	r.SharingCut = after.Found > h.MostFound
	if q.Mode == Profile {
		if r.Trace, r.Times, err = p.recording(dir, &after); err == nil {
			r.Trace.Ending = r.ending(r.Trace)
		}
	}
	return r, err
}

// process executes the program in an environment, and says how it ended. The limits are those of a
// Request.
func (p *Program) process(ctx context.Context, env []string, limit, idle time.Duration) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.cfg.Path)
	cmd.Args, cmd.Dir = p.cfg.Args, p.cfg.Dir
	cmd.Env = env
	cmd.Stdin = bytes.NewReader(p.cfg.Stdin)
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	began := time.Now()
	idled := false
	err := cmd.Start()
	if err == nil {
		watched := make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(watched)
			idled = idles(cmd.Process.Pid, idle, ended)
		}()
		err = cmd.Wait()
		close(ended)
		<-watched
	}
	r := &Result{Idle: idled, Status: -1, Seconds: time.Since(began).Seconds(), Output: out.kept}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	state := cmd.ProcessState
	if state == nil {
		return nil, fmt.Errorf("%s cannot be started: %w", p.cfg.Path, err)
	}
	r.CPU = (state.UserTime() + state.SystemTime()).Seconds()
	switch w := state.Sys().(syscall.WaitStatus); {
	case idled:
	case limited.Err() != nil:
		r.Expired = true
	case w.Signaled():
		r.Signal = w.Signal()
	default:
		r.Status = w.ExitStatus()
	}
	return r, nil
}

// idles watches a process until ended is closed. If the process uses no processor time for so long, it
// kills it and its children, and returns true.
func idles(pid int, most time.Duration, ended chan struct{}) bool {
	if most <= 0 {
		return false
	}
	const every = 50 * time.Millisecond
	used, since := "", time.Now()
	for {
		select {
		case <-ended:
			return false
		case <-time.After(every):
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			return false // it is ending, or nothing can be known
		}
		// schedstat counts the main thread only; the others are in task.
		all := string(b)
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, t := range tasks {
			b, _ := os.ReadFile(t)
			all += string(b)
		}
		if all != used {
			used, since = all, time.Now()
		} else if time.Since(since) > most {
			syscall.Kill(-pid, syscall.SIGKILL)
			return true
		}
	}
}

// stacks reports whether the library needs the calls of functions.
func (q *Request) stacks() bool {
	return q.Stacks || slices.ContainsFunc(q.Targets, func(t Target) bool { return t.StackC != 0 || t.StackR != 0 })
}

// patches returns the calls to leave out, in ascending order.
func (p *Program) patches(q *Request) (out []patch) {
	if q.Hooks || q.Mode == Profile {
		return nil
	}
	needed := map[trace.Site]bool{}
	for _, t := range q.Targets {
		needed[t.P], needed[t.C], needed[t.R] = true, true, true
	}
	calls := p.calls
	if !q.stacks() {
		calls = slices.Concat(calls, p.functions)
	}
	for _, c := range calls {
		if needed[c.Site] {
			continue
		}
		x := patch{After: place(c.Site)}
		if c.Jump {
			x.Jump = 1
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b patch) int {
		if a.After < b.After {
			return -1
		}
		return 1
	})
	return out
}

// output keeps the end of what a program writes.
type output struct{ kept []byte }

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.kept = append(o.kept, b...)
	if n := len(o.kept) - outputMost; n > 0 {
		o.kept = o.kept[n:]
	}
	return len(b), nil
}
