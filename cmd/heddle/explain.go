package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/page"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type explainCommand struct {
	Runs   *int   `placeholder:"N" help:"Make at most N executions (otherwise 600); with --try-lock, in the search (otherwise 2,000)."`
	Output string `short:"o" placeholder:"FILE" help:"Write the nearest execution that does not fail to FILE (otherwise to the first free one of NAME.pass.hdl, NAME.pass.2.hdl, …)."`
	Again  bool   `help:"Make the executions again, even if the trace has an explanation."`
	HTML   string `name:"html" placeholder:"FILE" help:"Also write a page to FILE, which a browser shows without a network: the failing execution and, beside it, the one that does not fail."`
	timeFlag
	tryLockFlag
	runFlags

	Trace string `arg:"" predictor:"trace" help:"The trace of a failure, best a simplified one."`
}

func (c *explainCommand) Help() string {
	return `Looks for the orderings of two events of different threads on which the failure depends: turns each pair of
dependent events in an execution of its own, and lists those without which the program does not fail.
Writes the execution that turns the first of them. Ends with 0 if it found such an ordering, and otherwise with 3.

With --try-lock, checks whether a lock cures the failure: executes the program as if the lock were held at the
lines named, first under the recorded schedule, then near it, and then in a search. Ends with 0 if no execution
failed, with 1 and the trace of a failure if one did, and with 3 if no thread reached the lines.`
}

func (c *explainCommand) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	tr, err := c.readTrace(a, c.Trace)
	if err == nil {
		err = unfaulted(tr)
	}
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := tracefile.NotInput(c.Output, c.Trace); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		if err := checkPage(c.HTML, c.Trace); err != nil {
			return err
		}
	}
	if len(c.TryLock) > 0 {
		return c.try(a, tr)
	}
	if saved := c.saved(tr); saved != nil {
		if c.Output != "" && saved.PassingTrace != nil {
			files, err := a.traceWriter(c.Output, "")
			if err == nil {
				saved.Passing, err = files.Keep(saved.PassingTrace, "")
			}
			if err != nil {
				return err
			}
		}
		return c.finish(a, tr, saved)
	}
	t, err := a.launcher().StartRecorded(a.ctx, tr, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.traceWriter(c.Output, tracefile.Derived(c.Trace, "pass"))
	if err != nil {
		return err
	}
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	done := a.slowly("explaining")
	cause, err := engine.FindCause(ctx, t, tr, engine.ExplainOptions{Executions: c.runs(), Time: c.Time, ExpectStatus: tr.Header.ExpectStatus, Names: report.NewRunning(t.Modules)})
	done()
	if err != nil {
		return c.overtime(ctx, a, t, err)
	}
	if cause.PassingTrace != nil {
		if cause.Passing, err = files.Keep(cause.PassingTrace, ""); err != nil {
			return err
		}
	}
	saveCause(tr, c.Trace, cause)
	return c.finish(a, tr, cause)
}

// saved returns the explanation that the trace has from before; nil if the executions are to be made again.
func (c *explainCommand) saved(tr *trace.Trace) *engine.Cause {
	if c.Again {
		return nil
	}
	e := savedCause(tr, c.Trace)
	switch {
	case e == nil, c.HTML != "" && !e.Numbered():
		return nil
	case e.PassingTrace == nil && c.Output != "" && len(e.Orders) > 0:
		return nil // it is asked for
	}
	return e
}

// finish writes the page and prints the explanation.
func (c *explainCommand) finish(a *app, tr *trace.Trace, cause *engine.Cause) error {
	out := &cause.Explanation
	if c.HTML != "" {
		if err := c.page(a, tr, cause); err != nil {
			return err
		}
	}
	var err error
	if a.JSON {
		err = a.printJSON(out)
	} else {
		c.print(a, out)
		if c.HTML != "" {
			fmt.Fprintf(a.stdout, "page: %s\n", c.HTML)
		}
	}
	if err == nil && len(out.Orders) == 0 && out.Pattern == "" {
		return errors.New("nothing was explained: " + out.Reason.Says(out.Executions, out.Passed))
	}
	return err
}

// page writes the page: of the trace, or of the execution with all accesses if the trace lacks an event that the explanation
// needs.
func (c *explainCommand) page(a *app, tr *trace.Trace, cause *engine.Cause) error {
	o := page.Options{Trace: c.Trace, Explanation: &cause.Explanation, Commands: pageCommands(c.Trace, tr)}
	drawn := tr
	if !cause.Numbered() {
		drawn, o.Explanation = cause.Base, cause.InBase
		o.Explanation.Line = cause.Line
		for i := range o.Commands {
			o.Commands[i].At = "" // the page has more events than the trace
		}
	}
	if cause.PassingTrace != nil {
		passing := execution(cause.PassingTrace, nil)
		passing.View = result.ViewAs(cause.PassingTrace, tr)
		o.Passing = &passing
	}
	e := execution(drawn, nil)
	if drawn != tr {
		e.View = result.ViewAs(drawn, tr)
		e.View.Notes = append(e.View.Notes, "the numbers of events are not those of the trace, which lacks accesses that the explanation needs")
	}
	return a.writePage(c.HTML, e, o)
}

// runs returns the bound on executions; 0 leaves it to the engine.
func (c *explainCommand) runs() int {
	if c.Runs == nil {
		return 0
	}
	return *c.Runs
}

func (c *explainCommand) print(a *app, out *report.Explanation) {
	if out.Pattern != "" {
		fmt.Fprintf(a.stdout, "%s\n", out.Pattern)
	}
	fmt.Fprintln(a.stdout, out.Text)
	c.printEvents(a, out)
	fmt.Fprintf(a.stdout, "\n%s", wording.Count(out.Executions, "execution"))
	switch {
	case out.Passing != "":
		fmt.Fprintf(a.stdout, "; one that does not fail: %s", out.Passing)
	case len(out.Orders) > 0:
		fmt.Fprint(a.stdout, "; --again writes one that does not fail")
	}
	fmt.Fprintln(a.stdout)
}

// printEvents prints the steps and the orderings.
func (c *explainCommand) printEvents(a *app, out *report.Explanation) {
	if len(out.Steps) > 0 {
		fmt.Fprintln(a.stdout)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for i, s := range out.Steps {
			number := fmt.Sprintf("%d.", i+1)
			if s.Passing {
				number = "not:" // what does not happen
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", number, s.Thread, s.Text, s.Where)
		}
		w.Flush()
	}
	for i, o := range out.Orders {
		object := ""
		if o.Object != "" {
			object = " of " + o.Object
		}
		fmt.Fprintf(a.stdout, "\norder %d%s:\n", i+1, object)
		for _, e := range out.Events[2*i : 2*i+2] {
			at := ""
			if e.Where != "" {
				at = ", at " + e.Where
			}
			which := ""
			switch {
			case e.Waiting:
				which = ", for which it waits"
			case e.Passing:
				which = ", event " + wording.Thousands(e.Event) + " of the execution that does not fail"
			case e.Event >= 0:
				which = ", event " + wording.Thousands(e.Event)
			}
			fmt.Fprintf(a.stdout, "  %s %s%s%s\n", e.Thread, e.Operation, which, at)
			for _, s := range e.Stack {
				fmt.Fprintf(a.stdout, "    called from %s\n", s)
			}
			if len(e.Holds) > 0 {
				fmt.Fprintf(a.stdout, "    holding %s\n", strings.Join(e.Holds, ", "))
			}
		}
	}
}
