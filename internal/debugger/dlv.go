package debugger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Dlv replays a trace in delve. Breakpoints in a command file stop the process where it failed;
// from there the user takes over.
func Dlv(ctx context.Context, t target.Target, tr *trace.Trace) error {
	program, ok := target.As[target.DebugLaunchable](t)
	if !ok {
		return usage.Errorf("--dlv is for traces of Go programs")
	}
	dlv, err := exec.LookPath("dlv")
	if err != nil {
		return errors.New("dlv is not in PATH: install it with go install github.com/go-delve/delve/cmd/dlv@latest")
	}
	plan, err := engine.ReplayPlan(t, tr)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "heddle-*.dlv")
	if err != nil {
		return fmt.Errorf("cannot write the debugger's commands: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(dlvCommands(tr, symbol.New(t.Modules(), symbol.Options{})))
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("cannot write the debugger's commands: %w", err)
	}
	// Ctrl-C stops the program in the debugger, not heddle.
	return program.Debug(context.WithoutCancel(ctx), []string{dlv, "exec", launch.ProgramFile(t), "--allow-non-terminal-interactive=true", "--init", file.Name(), "--"}, plan)
}

// dlvCommands returns commands that run a program to its failure: to the place in the source, if
// known, and to the end of the execution. The program also reaches that place earlier, in the
// warm-up execution and in earlier iterations of a loop; the number of decisions that heddle's
// scheduler has followed distinguishes them.
func dlvCommands(tr *trace.Trace, table *symbol.Table) string {
	var b strings.Builder
	stop := func(name, where string, choices int) {
		fmt.Fprintf(&b, "break %s %s\ncondition %s runtime.hd.pos >= %d\n", name, where, name, choices)
	}
	f := finding.Of(tr.Ending, tr.Modules)
	lookup := table.Call
	if f.Exact {
		lookup = table.Exact
	}
	all := len(schedule.ScriptOf(tr))
	if frame := lookup(f.Site)[0]; frame.File != "" && frame.Line > 0 && len(tr.Ending.Waiters) == 0 {
		stop("failure", fmt.Sprintf("%s:%d", frame.File, frame.Line), decisionsBefore(tr, f.Site, all))
	}
	stop("ending", "runtime.hdFinish", all)
	b.WriteString("continue\n")
	return b.String()
}

// decisionsBefore returns how many decisions had been made when the failing thread was last about to
// reach a site; all if reaching it is not an event.
func decisionsBefore(tr *trace.Trace, site trace.Site, all int) int {
	for i, e := range slices.Backward(tr.Events) {
		if e.Thread == tr.Ending.Thread && (e.Site == site || e.Op == trace.OpTestFail) {
			return len(schedule.Steps(tr.Events[:i]))
		}
	}
	return all
}
