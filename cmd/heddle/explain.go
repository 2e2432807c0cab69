package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type explainCommand struct {
	Runs   int    `default:"200" placeholder:"N" help:"Make at most N executions."`
	Output string `short:"o" placeholder:"FILE" help:"Write the nearest execution that does not fail to FILE (otherwise to the first free one of NAME.pass.hdl, NAME.pass.2.hdl, …)."`
	runFlags

	Trace string `arg:"" predictor:"trace" help:"The trace of a failure, best a simplified one."`
}

func (c *explainCommand) Help() string {
	return `Looks for the orderings of two events of different threads on which the failure depends: turns each pair of
dependent events in an execution of its own, and lists those without which the program does not fail.
Writes the execution that turns the first of them. Ends with 0 if it found such an ordering, and otherwise with 3.`
}

type explainJSON struct {
	report.Explanation
	Events []explainedEvent `json:"events"` // the events of the orders
}

type explainedEvent struct {
	Event     int      `json:"event"`
	Thread    string   `json:"thread"`
	Operation string   `json:"operation"`
	Where     string   `json:"where,omitempty"`
	Stack     []string `json:"stack,omitempty"`
}

func (c *explainCommand) Run(a *app) error {
	if c.Runs < 2 {
		return usage.Errorf("--runs must be at least 2")
	}
	tr, err := tracefile.Read(c.Trace)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := tracefile.NotInput(c.Output, c.Trace); err != nil {
			return err
		}
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
	done := a.slowly("explaining")
	found, err := engine.Explain(a.ctx, t, tr, engine.ExplainOptions{Executions: c.Runs, ExpectStatus: tr.Header.ExpectStatus})
	done()
	if err != nil {
		return err
	}
	names := report.NewRunning(t.Modules)
	out := explainJSON{Explanation: report.Explanation{Orders: found.Orders, Executions: found.Executions, Complete: found.Complete}, Events: []explainedEvent{}}
	report.Explain(found.Base, found.Passing, names, &out.Explanation)
	if found.Passing != nil {
		if out.Passing, err = files.Keep(found.Passing, ""); err != nil {
			return err
		}
	}
	for _, o := range found.Orders {
		second, in := o.Second, found.Base
		if second < 0 {
			second, in = o.InPassing, found.Passing
		}
		out.Events = append(out.Events, explained(found.Base, o.First, names), explained(in, second, names))
	}
	if a.JSON {
		err = a.printJSON(out)
	} else {
		c.print(a, &out)
	}
	if err == nil && len(out.Orders) == 0 {
		return fmt.Errorf("no ordering was found on which the failure depends alone, in %s", wording.Count(out.Executions, "execution"))
	}
	return err
}

func explained(t *trace.Trace, e int, names *report.Running) explainedEvent {
	ev := &t.Events[e]
	x := explainedEvent{Event: e, Thread: fmt.Sprintf("T%d", ev.Thread), Operation: ev.Op.String(), Where: names.Place(ev.Site, false)}
	for _, s := range t.Stacks[ev.Stack] {
		x.Stack = append(x.Stack, names.Place(s, false))
	}
	return x
}

func (c *explainCommand) print(a *app, out *explainJSON) {
	if out.Pattern != "" {
		fmt.Fprintf(a.stdout, "%s\n", out.Pattern)
	}
	fmt.Fprintln(a.stdout, out.Text)
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
			fmt.Fprintf(a.stdout, "  %s %s, event %s%s\n", e.Thread, e.Operation, wording.Thousands(e.Event), at)
			for _, s := range e.Stack {
				fmt.Fprintf(a.stdout, "    called from %s\n", s)
			}
		}
	}
	fmt.Fprintf(a.stdout, "\n%s", wording.Count(out.Executions, "execution"))
	if out.Passing != "" {
		fmt.Fprintf(a.stdout, "; one that does not fail: %s", out.Passing)
	}
	fmt.Fprintln(a.stdout)
}
