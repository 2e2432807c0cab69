package goprog

import (
	"context"
	"fmt"
	"math"

	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
)

// Debug runs one execution as Run does, in a process that a debugger starts, and returns when the
// debugger has ended. debugger is its command line; the program's arguments are appended. The
// debugger gets heddle's standard files and terminal, and unlimited time.
func (t *Target) Debug(ctx context.Context, debugger []string, plan schedule.Plan) error {
	c := command(&t.cfg, t.Cold())
	c.Path, c.Args = debugger[0], append(debugger, t.cfg.Args[1:]...)
	c.Terminal, c.WarmUp = true, 0
	c.Early = func(_ bool, how string, _ string) string {
		return fmt.Sprintf("the debugger ended before the execution began (%s)", how)
	}
	p, err := ipc.Launch(ctx, c)
	if err != nil {
		return err
	}
	p.Budget = 1
	loop := ipc.Loop{Program: debugged{program{t}, p}, Watchdog: math.MaxInt64 / 2}
	// The user has seen the outcome, if any: quitting the debugger early leaves none.
	_, _ = loop.Run(ctx, plan)
	p.Wait()
	loop.Close()
	return ctx.Err()
}

// debugged is a program whose only process has been launched.
type debugged struct {
	program
	proc *ipc.Process
}

func (d debugged) Launch(context.Context) (*ipc.Process, error) { return d.proc, nil }
