package cprog

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/target/wire"
	"github.com/heddle-dev/heddle/schedule"
)

// gdbCommands define heddle-where and heddle-next, attach, and run to main. The symbols
// are those of runtime/debug.c.
//
//go:embed heddle.gdb
var gdbCommands string

// Debug does one execution as Run does, in a process that the debugger, a gdb, has been
// attached to, with a kernel thread for each of the program's. It returns when the debugger
// has ended: with the outcome, if the execution has ended by then. events is how many the
// plan leads to, for people. The debugger has heddle's standard files and terminal.
func (t *Target) Debug(ctx context.Context, debugger []string, plan schedule.Plan, events int) (schedule.Outcome, bool, error) {
	cfg := t.cfg
	cfg.Threads, cfg.Donors = true, len(plan.Threads) // no second process could have more of them
	d := program{&Target{cfg: cfg, isolation: Process, header: t.header}}
	proc, err := d.Launch(ctx)
	if err != nil {
		return schedule.Outcome{}, false, err
	}
	defer proc.Close()
	file, err := os.CreateTemp("", "heddle-*.gdb")
	if err != nil {
		return schedule.Outcome{}, false, fmt.Errorf("the debugger's commands cannot be written: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = fmt.Fprint(file, strings.NewReplacer("@PID@", fmt.Sprint(proc.Pid()), "@EVENTS@", fmt.Sprint(events)).Replace(gdbCommands))
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return schedule.Outcome{}, false, fmt.Errorf("the debugger's commands cannot be written: %w", err)
	}
	gdb := exec.Command(debugger[0], append(debugger[1:], "-q", "-x", file.Name())...)
	gdb.Stdin, gdb.Stdout, gdb.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := gdb.Start(); err != nil {
		return schedule.Outcome{}, false, fmt.Errorf("cannot start %s: %w", debugger[0], wire.Plain(err))
	}
	over := make(chan error, 1)
	go func() { over <- gdb.Wait() }()
	for !traced(proc.Pid()) {
		select {
		case err := <-over:
			return schedule.Outcome{}, false, fmt.Errorf("the debugger ended before it had stopped the program (%v)", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	// The debugger may take as much time as it likes; without it there is nothing to wait for.
	running, stop := context.WithCancel(ctx)
	defer stop()
	type result struct {
		schedule.Outcome
		err error
	}
	outcome := make(chan result, 1)
	go func() {
		loop := wire.Loop{Program: launched{d, proc}, Watchdog: math.MaxInt64 / 2}
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

// launched is a program whose one process has been launched.
type launched struct {
	program
	proc *wire.Process
}

func (l launched) Launch(context.Context) (*wire.Process, error) { return l.proc, nil }
