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

// Dlv replays a trace in delve. Breakpoints in a command file stop the process before event at, if that is not nil,
// and where it failed; from there the user takes over.
func Dlv(ctx context.Context, t target.Target, tr *trace.Trace, at *int) error {
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
	table := symbol.New(t.Modules(), symbol.Options{})
	if at != nil && place(tr, *at, table) == "" {
		return fmt.Errorf("event %d has no line in the source, where dlv could stop: choose another one", *at)
	}
	file, err := os.CreateTemp("", "heddle-*.dlv")
	if err != nil {
		return fmt.Errorf("cannot write the debugger's commands: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(dlvCommands(tr, table, at))
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
func dlvCommands(tr *trace.Trace, table *symbol.Table, at *int) string {
	var b strings.Builder
	stop := func(name, where string, choices int) {
		fmt.Fprintf(&b, "break %s %s\ncondition %s runtime.hd.pos >= %d\n", name, where, name, choices)
	}
	f := finding.Of(tr.Ending, tr.Modules)
	all := len(schedule.ScriptOf(tr))
	if frame := table.Call(f.Site)[0]; frame.File != "" && frame.Line > 0 && len(tr.Ending.Waiters) == 0 {
		stop("failure", fmt.Sprintf("%s:%d", frame.File, frame.Line), decisionsBefore(tr, f.Site, all))
	}
	stop("ending", "runtime.hdFinish", all)
	if at != nil {
		stop("event", place(tr, *at, table), len(schedule.Steps(tr.Events[:*at])))
	}
	b.WriteString("continue\n")
	return b.String()
}

// place returns the line of an event, `file:line`: that of the innermost function whose source is known, outside of the
// standard library if there is one. Empty if no line is known.
func place(tr *trace.Trace, event int, table *symbol.Table) (line string) {
	e := &tr.Events[event]
	for _, s := range append([]trace.Site{e.Site}, tr.Stacks[e.Stack]...) {
		for _, f := range table.Call(s) {
			switch {
			case f.File == "" || f.Line == 0:
			case !f.GoStandard():
				return fmt.Sprintf("%s:%d", f.File, f.Line)
			case line == "":
				line = fmt.Sprintf("%s:%d", f.File, f.Line)
			}
		}
	}
	return line
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
