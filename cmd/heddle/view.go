package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/interactive"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

type viewCommand struct {
	drawFlags
	Event   *int     `placeholder:"N" help:"Begin at event N, as heddle show numbers them."`
	Sources []string `sep:"none" placeholder:"DIR" help:"Look for source files in DIR too."`

	traceArg
}

func (c *viewCommand) Help() string {
	return `Draws a trace as heddle show does, on the whole terminal, and steps through it: by event
(j, k) and by context switch (n, p), forwards and backwards, along one object (f), with the source
of each event below; d copies the command that opens a debugger there. ? lists the keys, q quits.`
}

func (c *viewCommand) Run(a *app) error {
	screen, ok := a.screen.(*os.File)
	if !ok || !term.IsTerminal(int(screen.Fd())) || !term.IsTerminal(int(os.Stdin.Fd())) {
		return usage.Errorf("heddle view needs a terminal: heddle show draws the trace as text")
	}
	if a.JSON {
		return usage.Errorf("heddle view draws on the terminal: heddle show --json prints what it draws")
	}
	tr, err := tracefile.ReadWithin(a.ctx, c.Trace)
	if err != nil {
		return err
	}
	a.launcher().Findable(a.ctx, tr)
	o := a.drawing()
	o.Full, o.Stacks = c.Full, c.Stacks
	command, err := interactive.Show(a.ctx, result.View(tr, c.Sources), interactive.Options{Draw: o, Event: c.Event, Source: report.SourcesOf(tr, report.Options{SourceDirs: c.Sources}).Line, Debuggers: func(event int) (lines []string) {
		for _, d := range report.DebuggerCommands(&tr.Header, c.Trace) {
			if event < len(tr.Events) {
				lines = append(lines, d.At(strconv.Itoa(event)))
			} else {
				lines = append(lines, d.Line())
			}
		}
		return lines
	}})
	if command != "" {
		fmt.Fprintln(a.stdout, command)
	}
	return err
}
