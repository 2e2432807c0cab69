package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type recordCommand struct {
	programFlags
	seedFlag
	Strategy string `predictor:"strategy" placeholder:"NAME" help:"Choose the schedule by one of ${policies}; otherwise no thread is preempted."`
	earlyFlag
	spuriousFlag
	Accesses bool   `help:"Record all accesses to memory, not only scheduling points."`
	Output   string `short:"o" placeholder:"FILE" help:"Write the trace to FILE, replacing a trace of that name (otherwise to the first free one of PROGRAM.record.hdl, PROGRAM.record.2.hdl, …)."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *recordCommand) Help() string {
	return `Runs the program once, under one schedule, and writes the trace, however it ends. Ends with
1 if the execution failed.`
}

type recordJSON struct {
	Outcome string          `json:"outcome"` // found, clean
	Trace   string          `json:"trace"`
	Status  int32           `json:"status"`
	Cost    trace.Cost      `json:"cost"`
	Finding *result.Finding `json:"finding,omitempty"`
}

func (c *recordCommand) Run(a *app) error {
	opts := engine.RecordOptions{Seed: c.Seed, Sparse: !c.Accesses, Spurious: c.Spurious, EarlyTimeouts: c.EarlyTimeouts}
	if c.Strategy != "" {
		s, err := strategy.Parse(c.Strategy)
		if err != nil {
			return usage.Wrap(err)
		}
		opts.Strategy = s
	}
	program, err := c.program(c.Program.words())
	if err != nil {
		return err
	}
	t, err := a.launcher().Start(a.ctx, program, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.traceWriter(c.Output, c.Program.name()+".record.hdl")
	if err != nil {
		return err
	}
	tr, err := engine.Record(a.ctx, t, opts)
	if err != nil {
		return err
	}
	if c.Output, err = files.Keep(tr, ""); err != nil {
		return err
	}
	out := recordJSON{Outcome: "clean", Trace: c.Output, Status: tr.Ending.Status, Cost: trace.CostOf(tr.Events)}
	failed := tr.Ending.Kind.Failed()
	if failed {
		out.Outcome = "found"
		out.Finding = result.OfTrace(tr, t)
		out.Finding.Confirmed = false // it ran once
	}
	if a.JSON {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		if failed {
			fmt.Fprintln(a.stdout, out.Finding.Headline())
		}
		ended := ""
		if !failed && tr.Ending.Status != 0 {
			ended = fmt.Sprintf("exit status %d, ", tr.Ending.Status)
		}
		fmt.Fprintf(a.stdout, "recorded: %s (%s%s, %s, %s)\n",
			c.Output, ended, wording.Count(out.Cost.Events, "event"), wording.Count(out.Cost.Switches, "context switch"), wording.Count(out.Cost.Threads, "thread"))
	}
	if failed {
		return errFound
	}
	return nil
}
