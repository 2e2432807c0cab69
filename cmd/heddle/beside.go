package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/beside"
	"github.com/heddle-dev/heddle/internal/report/page"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// besideFlags are those of heddle compare with the trace of a failure alone.
type besideFlags struct {
	All    bool   `help:"Of one trace: show every event, not only those that fit on a screen."`
	Output string `short:"o" placeholder:"FILE" help:"Of one trace: write the execution that does not fail to FILE (otherwise to the first free one of NAME.pass.hdl, NAME.pass.2.hdl, …, if it is not kept yet)."`
	Runs   *int   `placeholder:"N" help:"Of one trace: make at most N executions to find why it fails (otherwise 600)."`
	timeFlag
	runFlags
}

// given reports whether the user gave one of them.
func (f *besideFlags) given() bool {
	return f.All || f.Output != "" || f.Runs != nil || f.Time != 0 || f.Isolation != "" || f.Threads
}

// pair is a failing execution and one that passes.
type pair struct {
	failing, passing *trace.Trace
	file             string // of passing
	cause            *engine.Cause
	turned           bool // passing has the ordering of the cause the other way round
	given            bool // passing is the one that the user has named, and not that of the cause
	executions       int
}

// beside shows a failing execution and one that passes: that of a file, or the nearest one if none is named.
func (c *compareCommand) beside(a *app, file, other string) error {
	tr, err := c.readTrace(a, file)
	if err == nil {
		err = unfaulted(tr)
	}
	if err != nil {
		return err
	}
	if !tr.Ending.Kind.Failed() {
		return fmt.Errorf("the execution of %s does not fail, so there is no passing one to put beside it: name a second trace to compare it with", file)
	}
	if c.Output != "" {
		if err := tracefile.NotInput(c.Output, file); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		if err := checkPage(c.HTML, file); err != nil {
			return err
		}
	}
	t, err := a.launcher().StartRecorded(a.ctx, tr, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.traceWriter(c.Output, tracefile.Derived(file, "pass"))
	if err != nil {
		return err
	}
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	done := a.slowly("comparing")
	p := &pair{failing: tr}
	if other != "" {
		err = p.take(file, other)
	} else if err = c.findPassing(ctx, t, p); err == nil {
		err = c.keep(files, p)
	}
	var failing, passing *trace.Trace
	if err == nil {
		failing, err = engine.WithValues(ctx, t, tr)
	}
	if err == nil {
		passing, err = engine.WithValues(ctx, t, p.passing)
	}
	done()
	if err != nil {
		return c.overtime(ctx, a, t, err)
	}
	var why *report.Explanation
	if p.cause != nil {
		why = &p.cause.Explanation
	}
	one, two := besideExecution(file, tr, tr, failing), besideExecution(p.file, tr, p.passing, passing)
	names := report.NewRunning(t.Modules)
	compared := func(o beside.Options) *beside.Comparison {
		o.Own = func(tr *trace.Trace, event int) bool { return names.Origin(tr, event) == report.OwnEvent }
		out := beside.Compare(one, two, why, o)
		out.Turned, out.Given, out.Executions = p.turned, p.given, p.executions+2
		out.Failing.Replay, out.Passing.Replay = "heddle replay "+wording.Quoted(file), "heddle replay "+wording.Quoted(p.file)
		return out
	}
	if c.HTML != "" {
		drawn := compared(beside.Options{Lines: beside.Lines, Whole: true})
		if err := tracefile.WriteWhole(c.HTML, func(w io.Writer) error { return page.RenderBeside(w, drawn.Failing.Ending, drawn) }); err != nil {
			return err
		}
	}
	o := beside.Options{Lines: beside.Lines}
	if c.All {
		o.Lines = 0
	}
	out := compared(o)
	if a.JSON {
		return a.printJSON(out)
	}
	out.Print(a.stdout, width(a))
	if c.HTML != "" {
		fmt.Fprintf(a.stdout, "page:    %s\n", c.HTML)
	}
	return nil
}

// width is that of the table: the terminal's, or else enough for both sides.
func width(a *app) int {
	if f, ok := a.screen.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return a.drawing().Width
	}
	return beside.Usual
}

// besideExecution is an execution in the names of the failing one's trace, which the user has.
func besideExecution(file string, failing, recorded, full *trace.Trace) beside.Execution {
	return beside.Execution{File: file, Recorded: recorded, Full: full, View: result.ViewAs(full, failing), Ended: result.ShortView(recorded, nil)}
}

// findPassing finds the execution that passes: the one that the trace's explanation has, or else that of a new explanation, or else
// the nearest one that is met. It is an error if none passes.
func (c *compareCommand) findPassing(ctx context.Context, t target.Target, p *pair) error {
	names := report.NewRunning(t.Modules)
	if p.cause = savedCause(p.failing, c.Golden); p.cause != nil && p.cause.Met == nil && p.cause.Schedule != "" {
		p.executions++
		met, err := engine.Passing(ctx, t, p.failing, p.cause.Schedule)
		if err != nil && ctx.Err() != nil {
			return err
		}
		p.cause.Met = met // nil where that does not pass any more
	}
	known := p.cause != nil && (p.cause.Met != nil || len(p.cause.Orders) == 0 && p.cause.Passed == 0)
	if !known && p.failing.Ending.Kind != trace.Race { // a race has no ordering that decides
		runs := 0
		if c.Runs != nil {
			runs = *c.Runs
		}
		cause, err := engine.FindCause(ctx, t, p.failing, engine.ExplainOptions{Executions: runs, Time: c.Time, ExpectStatus: p.failing.Header.ExpectStatus, Names: names})
		if err != nil {
			return err
		}
		p.cause = cause
		p.executions += cause.Executions
	}
	none := "a data race is one in any order of its two accesses"
	if e := p.cause; e != nil {
		if p.passing, p.file = e.Met, e.Passing; p.passing != nil {
			p.turned = len(e.Orders) > 0
			return nil
		}
		none = e.Reason.Says(e.Executions, e.Passed)
		if e.Reason.Always() {
			return errors.New("there is no execution that passes to compare it with: " + none)
		}
	}
	passing, executions, err := engine.NearestPassing(ctx, t, p.failing, neighbourRuns, names.Locate)
	if err != nil {
		return err
	}
	p.passing = passing
	p.executions += executions
	if passing == nil {
		return fmt.Errorf("there is no execution that passes to compare it with: %s, and none of %s near it passes", none, wording.Count(executions, "execution"))
	}
	return nil
}

// take takes the execution of a file as the one that passes.
func (p *pair) take(failing, passing string) (err error) {
	if p.passing, err = tracefile.Read(passing); err != nil {
		return err
	}
	p.file = passing
	if p.cause = savedCause(p.failing, failing); p.cause != nil && len(p.cause.Orders) > 0 && p.cause.Passing != "" {
		p.turned = tracefile.NotInput(passing, p.cause.Passing) != nil // the same file
	}
	p.given = !p.turned
	return nil
}

// keep writes the execution that passes to a file, if it is in none yet, and the explanation to the failing trace.
func (c *compareCommand) keep(files *tracefile.Writer, p *pair) (err error) {
	if p.file != "" && c.Output == "" {
		return nil
	}
	if p.file, err = files.Keep(p.passing, ""); err == nil && p.cause != nil {
		if p.turned {
			p.cause.Passing = p.file
		}
		saveCause(p.failing, c.Golden, p.cause)
	}
	return err
}
