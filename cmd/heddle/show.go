package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/report/page"
	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

type showCommand struct {
	drawFlags
	exportFlags
	Schedule bool     `xor:"as" help:"Print the schedule as one line, to be pasted into a bug report; heddle replay --schedule follows it."`
	HTML     string   `name:"html" xor:"as" placeholder:"FILE" help:"Write a page to FILE, which a browser shows without a network: the threads side by side, with the source, to step through and to pass on."`
	Text     bool     `xor:"as" help:"Print the trace itself in its text form, with nothing resolved or omitted."`
	Width    int      `placeholder:"COLUMNS" help:"Draw this wide (otherwise as the terminal is, or 80)."`
	Sources  []string `sep:"none" placeholder:"DIR" help:"Look for source files in DIR too."`

	traceArg
}

type scheduleJSON struct {
	Schedule string `json:"schedule"`
}

func (c *showCommand) Help() string {
	return `Draws a column per thread, with the source line of each event; a preemption is marked apart
from a switch away from a thread that could not go on. Events that concern no other thread
and loops are folded.`
}

func (c *showCommand) Run(a *app) error {
	if err := c.check(a.JSON, c.Trace); err != nil {
		return err
	}
	if c.HTML != "" {
		if a.JSON {
			return usage.Errorf("--json is a format of its own: omit it, or --html")
		}
		if err := checkPage(c.HTML, c.Trace); err != nil {
			return err
		}
	}
	tr, err := tracefile.ReadWithin(a.ctx, c.Trace)
	if err != nil {
		return err
	}
	if c.Schedule {
		text := schedule.FormatTrace(tr)
		if a.JSON {
			return a.printJSON(scheduleJSON{text})
		}
		_, err := fmt.Fprintln(a.stdout, text)
		return err
	}
	if c.Text {
		return trace.WriteText(a.screen, tr)
	}
	a.launcher().Findable(a.ctx, tr)
	if c.HTML != "" {
		e := execution(tr, c.Sources)
		return a.writePage(c.HTML, e, page.Options{Trace: c.Trace, Explanation: e.View.Why, Commands: pageCommands(c.Trace, tr)})
	}
	if export := c.chosen(c.Trace, tr, c.Full); export != nil {
		view := result.ShortView
		if c.Full {
			view = result.View
		}
		return c.write(a, export, view(tr, c.Sources))
	}
	if a.JSON {
		return a.printJSON(result.View(tr, c.Sources))
	}
	o := a.drawing()
	o.Full, o.Stacks = c.Full, c.Stacks
	if c.Width > 0 {
		o.Width = c.Width
	}
	return term.Render(a.screen, result.DrawnView(tr, c.Sources, c.Full), o)
}
