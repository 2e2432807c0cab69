package main

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

type showCommand struct {
	Full    bool     `help:"Show every event, and fold nothing."`
	Text    bool     `help:"Print the trace itself in its text form, nothing resolved or left out."`
	Width   int      `placeholder:"COLUMNS" help:"Draw this wide (otherwise as the terminal is, or 80)."`
	Sources []string `placeholder:"DIR" help:"Look for source files in DIR too."`

	Trace string `arg:"" predictor:"trace" help:"The trace."`
}

func (c *showCommand) Help() string {
	return `Draws a column per thread, with the source line of each event; a preemption is marked apart
from a switch away from a thread that could not go on. Events that concern no other thread
and loops are folded.`
}

func (c *showCommand) Run(a *app) error {
	tr, err := readTrace(c.Trace)
	if err != nil {
		return err
	}
	if c.Text {
		return trace.WriteText(a.screen, tr)
	}
	a.findable(tr)
	view := viewOf(tr, c.Sources)
	if a.JSON {
		return a.printJSON(view)
	}
	o := a.drawing(c.Full)
	if c.Width > 0 {
		o.Width = c.Width
	}
	return term.Render(a.screen, view, o)
}

func viewOf(tr *trace.Trace, sources []string) *report.View {
	return report.Build(tr, report.NamesOf(tr, symbol.ForTrace(tr, symbol.Options{})), report.Options{SourceDirs: sources})
}

// drawing are the options for standard output.
func (a *app) drawing(full bool) term.Options {
	o := term.Options{Width: 80}
	if f, ok := a.screen.(*os.File); ok {
		o = term.Detect(f, os.Environ())
	}
	o.Color = o.Color && !a.NoColor
	o.Full = full
	return o
}

// showTrace draws an execution. Its schedule is described without the seed of its plan, which
// beside --seed would only confuse.
func (a *app) showTrace(tr *trace.Trace, full bool) error {
	v := viewOf(tr, nil)
	v.Strategy = strategy.Unseeded(v.Strategy)
	return term.Render(a.screen, v, a.drawing(full))
}

// showSummary prints what the tables of FSE'10 print.
func (a *app) showSummary(r *tinertia.Result) error {
	s := term.Simplification{
		Bug: r.Table2.Bug, Before: r.Before, After: r.After,
		Iterations: r.Table2.Iterations, Executions: r.Table2.Executions,
		Time: time.Duration(r.Table2.Seconds * float64(time.Second)),
	}
	if i := slices.IndexFunc(r.Trace.Modules, func(m trace.Module) bool { return m.Program }); i >= 0 {
		s.Program = filepath.Base(r.Trace.Modules[i].Path)
	}
	for _, op := range r.Operations {
		if op.Accepted > 0 {
			s.Operations = append(s.Operations, term.OperationRow{Name: string(op.Operation), Tried: op.Tried, Accepted: op.Accepted, Switches: op.Switches})
		}
	}
	if err := term.Summary(a.screen, s, a.drawing(false)); err != nil {
		return err
	}
	_, err := a.stdout.Write([]byte("\n"))
	return err
}
