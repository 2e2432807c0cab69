package cprog

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
)

// These define heddle-where, heddle-next, heddle-goto and heddle-frame, attach, and run to main. The
// symbols are those of runtime/c/core/debugger.c.
//
//go:embed heddle.gdb
var gdbCommands string

//go:embed heddle.lldb.py
var lldbCommands string

// debugger knows the command lines of gdb and lldb.
type debugger struct{ target.Debugger }

// file returns the name of its command file. gdb goes by the extension, and lldb makes a Python
// module of that name.
func (d debugger) file() string {
	if d.LLDB {
		return "heddle_commands.py"
	}
	return "heddle.gdb"
}

// command returns the command line with which the debugger reads that file.
func (d debugger) command(file string) *exec.Cmd {
	if !d.LLDB {
		return exec.Command(d.Path, "-q", "-x", file)
	}
	cmd := exec.Command(d.Path, "-o", "settings set interpreter.prompt-on-quit false", "-o", "command script import "+file)
	if d.At != nil {
		cmd.Args = append(cmd.Args, "-o", fmt.Sprintf("heddle-goto %d", *d.At))
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		// When lldb reads commands from a pipe on its own, it does not wait for what the previous
		// command has started.
		cmd.Args = append(cmd.Args, "-o", "settings set interpreter.stop-command-source-on-error false", "-s", "/dev/stdin", "-o", "quit")
	}
	cmd.Env = append(os.Environ(), d.pythonPath()...)
	return cmd
}

// pythonPath sets the path of lldb's Python module. Debian's lldb 14 looks for it in the wrong
// place (the one lldb -P prints).
func (d debugger) pythonPath() []string {
	path, err := filepath.EvalSymlinks(d.Path)
	if err != nil {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "../lib/python3*/*-packages/lldb/embedded_interpreter.py"))
	if len(found) == 0 {
		return nil
	}
	dirs := filepath.SplitList(os.Getenv("PYTHONPATH"))
	for _, f := range found {
		dirs = append(dirs, filepath.Dir(filepath.Dir(f)))
	}
	return []string{"PYTHONPATH=" + strings.Join(dirs, string(filepath.ListSeparator))}
}

// check rejects an lldb that cannot run heddle's commands.
func (d debugger) check(ctx context.Context) error {
	if !d.LLDB {
		return nil
	}
	const word = "has Python"
	cmd := exec.CommandContext(ctx, d.Path, "--batch", "--no-lldbinit", "-o", `script print("%s" % "`+word+`" if lldb.debugger else "")`)
	cmd.Env = append(os.Environ(), d.pythonPath()...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if slices.Contains(lines, word) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("it says %q", lines[len(lines)-1])
	}
	return fmt.Errorf("%s does not run Python, in which heddle's commands for lldb are written (%w): install its module (on Debian and Ubuntu: python3-lldb), or use gdb", d.Path, err)
}

func (d debugger) commands(pid, events int) string {
	text, at := gdbCommands, ""
	if d.LLDB {
		text = lldbCommands
	} else if d.At != nil {
		at = fmt.Sprintf("heddle-goto %d\n", *d.At)
	}
	return strings.NewReplacer("@PID@", fmt.Sprint(pid), "@EVENTS@", fmt.Sprint(events), "@AT@", at).Replace(text)
}

// Debug implements target.Debuggable. Each of the program's threads gets a kernel thread of its
// own.
func (t *Target) Debug(ctx context.Context, with target.Debugger, plan schedule.Plan, events int) (schedule.Outcome, bool, error) {
	debugger := debugger{with}
	if err := debugger.check(ctx); err != nil {
		return schedule.Outcome{}, false, err
	}
	cfg := t.cfg
	cfg.Threads, cfg.Hosts = true, len(plan.Threads) // no second process could be given more
	d := program{&Target{cfg: cfg, isolation: Process, header: t.header}}
	proc, err := d.Launch(ctx)
	if err != nil {
		return schedule.Outcome{}, false, err
	}
	defer proc.Close()
	// A directory, because lldb's Python writes its compiled code beside the file.
	dir, err := os.MkdirTemp("", "heddle-debug-")
	if err != nil {
		return schedule.Outcome{}, false, fmt.Errorf("cannot write the debugger's commands: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, debugger.file())
	if err := os.WriteFile(file, []byte(debugger.commands(proc.Pid(), events)), 0o600); err != nil {
		return schedule.Outcome{}, false, fmt.Errorf("cannot write the debugger's commands: %w", err)
	}
	cmd := debugger.command(file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return schedule.Outcome{}, false, fmt.Errorf("cannot start %s: %w", debugger.Path, ipc.Plain(err))
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	for !traced(proc.Pid()) {
		select {
		case err := <-over:
			if err == nil {
				err = errors.New("exit status 0")
			}
			return schedule.Outcome{}, false, fmt.Errorf("the debugger ended before it had stopped the program (%w)", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	// The debugger may take any time; once it has ended, nothing waits for the execution.
	running, stop := context.WithCancel(ctx)
	defer stop()
	type result struct {
		schedule.Outcome
		err error
	}
	outcome := make(chan result, 1)
	go func() {
		loop := ipc.Loop{Program: launched{d, proc}, Watchdog: math.MaxInt64 / 2}
		o, err := loop.Run(running, plan)
		outcome <- result{o, err}
	}()
	<-over
	stop()
	r := <-outcome
	return r.Outcome, r.err == nil, ctx.Err()
}

// traced reports whether a debugger is attached to a process.
func traced(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, found := strings.Cut(string(b), "TracerPid:\t")
	return err == nil && found && !strings.HasPrefix(after, "0\n")
}

// launched is a program whose only process has been launched.
type launched struct {
	program
	proc *ipc.Process
}

func (l launched) Launch(context.Context) (*ipc.Process, error) { return l.proc, nil }
