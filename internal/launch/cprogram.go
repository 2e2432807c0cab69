package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/heddle-dev/heddle/internal/engine"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// How configures the execution of a program of any kind.
type How struct {
	Watchdog time.Duration // time without a scheduling point after which the program counts as hung
	// Isolation separates the executions of a C or C++ program; empty chooses the isolation
	// that the program needs. Threads gives each of its threads a kernel thread.
	Isolation string
	Threads   bool
	Randomize bool // random address layout
	// Cover is a file to which executions of a Go test that was built with -cover add their counters.
	Cover string
	// TryLock are lines of a trace's program to execute with a lock held, besides those of the trace.
	TryLock []string
}

// CheckGo returns an error of usage for what Go programs do not have.
func (h How) CheckGo() error {
	switch {
	case h.Threads:
		return usage.Errorf("--threads is for C and C++ programs: a goroutine has no kernel thread of its own")
	case h.Isolation != "" && h.Isolation != trace.IsolationProcess:
		return usage.Errorf("--isolation=%s is for C and C++ programs: the executions of a Go test are repeated in its process, or each has one of its own with --isolation=process", h.Isolation)
	}
	return nil
}

// config returns the configuration; recorded, from a trace, provides what h leaves empty.
func (h How) config(recorded string) (cfg cprog.Config, err error) {
	cfg.Threads, cfg.Watchdog, cfg.Randomize = h.Threads, h.Watchdog, h.Randomize
	if cfg.Isolation, err = cprog.ParseIsolation(cmp.Or(h.Isolation, recorded)); err != nil {
		return cfg, usage.Wrap(err)
	}
	return cfg, nil
}

// Program is a program as the user names it.
type Program struct {
	Words []string // the program and its arguments: an executable, or Go source as for go run
	Stdin []byte   // standard input of every execution, nil for none
	Omit  []string // synchronisation calls to omit, CALL@FILE:LINE
	// TryLock are lines to execute with a lock held, LOCK@FILE:FROM-TO.
	TryLock []string

	Outputs
}

// Outputs judge the output of executions, as in trace.Header.
type Outputs struct {
	ExpectOutput []byte
	Oracle       string
}

// Set reports whether there is anything to judge by.
func (o Outputs) Set() bool { return o.ExpectOutput != nil || o.Oracle != "" }

// outputsOf returns how the output of a recorded execution was judged.
func outputsOf(h *trace.Header) Outputs {
	return Outputs{ExpectOutput: h.ExpectOutput, Oracle: h.Oracle}
}

// Start starts a program, an executable or one built from Go source, and stops it at main.
func (l *Launcher) Start(ctx context.Context, p Program, how How) (target.Target, error) {
	dir, err := WorkingDir()
	if err != nil {
		return nil, err
	}
	cfg, err := how.config("")
	if err != nil {
		return nil, err
	}
	if err := cprog.CheckOmit(p.Omit); err != nil {
		return nil, usage.Wrap(err)
	}
	if err := cprog.CheckTryLock(p.TryLock); err != nil {
		return nil, usage.Wrap(err)
	}
	if what, args := goWords(dir, p.Words); len(what) > 0 {
		if len(p.TryLock) > 0 {
			return nil, noTryLock()
		}
		if len(p.Omit) > 0 {
			return nil, usage.Errorf("--omit omits calls of C and C++ programs only; Go programs are not supported yet")
		}
		if err := how.CheckGo(); err != nil {
			return nil, err
		}
		r := &trace.Recipe{Kind: trace.RecipeProgram, Tool: goTool, Env: gotool.BuildEnv(), Packages: what, Args: args}
		return l.startGo(ctx, r, dir, &p, how)
	}
	path, err := Executable(p.Words)
	if err != nil {
		return nil, err
	}
	cfg.Path, cfg.Args, cfg.Dir, cfg.Stdin, cfg.Omit = path, p.Words, dir, p.Stdin, p.Omit
	cfg.TryLock = p.TryLock
	cfg.ExpectOutput, cfg.Oracle = p.ExpectOutput, p.Oracle
	return l.startC(ctx, cfg)
}

// Executable finds a program's executable as a shell would.
func Executable(words []string) (string, error) {
	if len(words) == 0 {
		return "", usage.Errorf("no program is named: give it after --")
	}
	if strings.ContainsRune(words[0], '/') {
		return words[0], nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return "", fmt.Errorf("%s is not in PATH: give the program's path, like ./%s", words[0], words[0])
	}
	return path, nil
}

// startC completes cfg and starts the program.
func (l *Launcher) startC(ctx context.Context, cfg cprog.Config) (target.Target, error) {
	path := cfg.Path
	if gotool.Built(path) {
		return nil, fmt.Errorf("%s is a Go program: name its package, and heddle builds it", path)
	}
	if _, err := toolchain.Inspect(path); err != nil {
		return nil, err
	}
	var err error
	if cfg.Path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	rt, err := l.Runtime(ctx)
	if err != nil {
		return nil, err
	}
	cfg.Runtime, cfg.Version = rt.Library, l.Version
	cfg.Memory, cfg.Sign = l.Memory, l.sign
	cfg.Tell = l.Note
	t, err := cprog.Start(ctx, cfg)
	var refused *cprog.RefusedError
	var wrong *cprog.OmitError
	var untried *cprog.TryLockError
	if errors.As(err, &wrong) || errors.As(err, &untried) {
		return nil, usage.Wrap(err)
	}
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("heddle cannot run %s: %w", filepath.Base(path), err)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ExperimentNotes returns notes on how often the omitted calls and the lines with a tried lock were reached.
func ExperimentNotes(t target.Target) (notes []string) {
	if c, ok := target.As[target.LockTrier](t); ok {
		for _, l := range c.TriedLocks() {
			if l.Times == 0 {
				notes = append(notes, fmt.Sprintf("no execution reached %s with %s tried: this says nothing about the lock", l.Lines, l.Lock))
			} else {
				notes = append(notes, fmt.Sprintf("%s was held at %s %s times", l.Name(), l.Lines, wording.Thousands(int(l.Times))))
			}
		}
	}
	c, ok := target.As[target.Omitter](t)
	if !ok {
		return nil
	}
	for _, i := range c.Omitted() {
		if i.Times == 0 {
			notes = append(notes, fmt.Sprintf("no execution reached %s: this says nothing about whether it is needed", i.Call))
		} else {
			notes = append(notes, fmt.Sprintf("%s was omitted %s times", i.Call, wording.Thousands(int(i.Times))))
		}
	}
	return notes
}

// noTryLock returns the error for a Go program.
func noTryLock() error {
	return usage.Errorf("--try-lock tries locks in C and C++ programs only; Go programs are not supported yet")
}

// NeverTried returns an error if no thread entered one of the ranges in which a lock is tried: then the
// executions say nothing about it.
func NeverTried(t target.Target) error {
	c, ok := target.As[target.LockTrier](t)
	if !ok {
		return nil
	}
	for _, l := range c.TriedLocks() {
		if l.Times == 0 {
			return fmt.Errorf("no execution took the lock of --try-lock %s: no thread reached these lines, so the executions say nothing about it; heddle sees instructions in %s of that file", l.Range, l.Nearest)
		}
	}
	return nil
}

// StartRecorded starts the program of a trace. It asks the user before it runs a trace from someone
// else.
func (l *Launcher) StartRecorded(ctx context.Context, tr *trace.Trace, how How) (target.Target, error) {
	if tr.Header.Target == rapid.Target {
		return nil, errors.New("the trace was imported from STD, which names no program to run: heddle show and heddle simplify --static read it")
	}
	if tr.Header.Live {
		return nil, engine.ErrLive
	}
	run := tr.Header.Run()
	cfg, err := how.config(run.Isolation)
	if err != nil {
		return nil, err
	}
	if err := l.trust(ctx, tr); err != nil {
		return nil, err
	}
	if err := cprog.CheckTryLock(slices.Concat(run.TryLock, how.TryLock)); err != nil {
		return nil, usage.Wrap(err)
	}
	if run.Target == "go" && len(how.TryLock) > 0 {
		return nil, noTryLock()
	}
	if run.Target == "go" {
		if err := how.CheckGo(); err != nil {
			return nil, err
		}
		return l.startRecordedGo(ctx, tr, how)
	}
	if run.Target != "c" || len(run.Command) == 0 {
		return nil, fmt.Errorf("the trace is of a %q program, which this heddle cannot run", run.Target)
	}
	if _, err := os.Stat(run.Command[0]); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the program of the trace, %s, no longer exists: build it again from the same source, at the same path", run.Command[0])
	}
	if _, err := os.Stat(run.Dir); run.Dir != "" && errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the working directory of the trace, %s, no longer exists: create it again, with the files that the program reads there", run.Dir)
	}
	args := slices.Clone(run.Command)
	args[0] = cmp.Or(run.Argv0, args[0])
	cfg.Path, cfg.Args, cfg.Dir, cfg.Stdin = run.Command[0], args, run.Dir, run.Stdin
	cfg.Omit, cfg.TryLock, cfg.Modules = run.Omit, slices.Concat(run.TryLock, how.TryLock), tr.Modules
	outputs := outputsOf(&tr.Header)
	cfg.ExpectOutput, cfg.Oracle = outputs.ExpectOutput, outputs.Oracle
	return l.startC(ctx, cfg)
}
