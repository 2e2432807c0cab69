// Package debugger replays a trace in a debugger, which stops where the program failed.
package debugger

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/trace"
)

// Gdb replays a trace in gdb or lldb, which stops at main, or after event at if that is not nil, and leaves the
// rest to the user. output is what the program wrote, if it ended.
func Gdb(ctx context.Context, t target.Target, tr *trace.Trace, name string, at *int) (output []byte, err error) {
	program, ok := target.As[target.Debuggable](t)
	if !ok {
		return nil, usage.Errorf("--gdb is for traces of C and C++ programs; --dlv is for Go")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%s is not in PATH: install it, or name another gdb or lldb with --gdb=PROGRAM", name)
	}
	plan, err := engine.ReplayPlan(t, tr)
	if err != nil {
		return nil, err
	}
	t.Close() // the debugger gets a process of its own
	// Ctrl-C stops the program in the debugger, not heddle.
	o, ended, err := program.Debug(context.WithoutCancel(ctx), target.Debugger{Path: path, LLDB: strings.Contains(filepath.Base(path), "lldb"), At: at}, plan, len(tr.Events))
	if err != nil {
		return nil, err
	}
	if ended {
		output = o.Ending.Output
	}
	return output, nil
}
