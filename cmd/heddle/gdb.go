package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// debuggerFlag is a flag that may be given without a value, and then is "gdb".
type debuggerFlag string

func (debuggerFlag) IsBool() bool { return true }

func (d *debuggerFlag) Decode(ctx *kong.DecodeContext) error {
	*d = "gdb"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*d = debuggerFlag(fmt.Sprint(ctx.Scan.Pop().Value))
	}
	return nil
}

// debugGdb replays a trace in gdb or lldb, which stands at main then; what comes next is the
// user's.
func (a *app) debugGdb(t target.Target, tr *trace.Trace, name string) error {
	program, ok := target.As[target.Debuggable](t)
	if !ok {
		return errors.New("--gdb is for traces of C and C++ programs; --dlv is for Go")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not in PATH: install it, or name another gdb or lldb with --gdb=PROGRAM", name)
	}
	plan, err := engine.ReplayPlan(t, tr)
	if err != nil {
		return err
	}
	t.Close() // the debugger gets a process of its own
	// Ctrl-C stops the program in the debugger, and not heddle.
	o, ended, err := program.Debug(context.WithoutCancel(a.ctx), target.Debugger{Path: path, LLDB: strings.Contains(filepath.Base(path), "lldb")}, plan, len(tr.Events))
	if err != nil {
		return err
	}
	if ended && len(o.Ending.Output) > 0 {
		fmt.Fprintf(a.stdout, "the program wrote:\n%s", o.Ending.Output)
	}
	return nil
}
