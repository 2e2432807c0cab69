package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/trace"
)

type recordCommand struct {
	programFlags
	withoutFlags
	Seed          uint64 `default:"1" help:"Choose another schedule."`
	Strategy      string `placeholder:"NAME" help:"Choose the schedule by random, stay, pct or pos; otherwise no thread is preempted."`
	EarlyTimeouts bool   `help:"Let any time-out, sleep or timer end while other threads could run."`
	Spurious      bool   `help:"Let waits on condition variables and futexes end without a waker, as POSIX allows."`
	Accesses      bool   `help:"Record all accesses to memory, not only scheduling points."`
	Output        string `short:"o" placeholder:"FILE" help:"Write the trace to FILE, replacing a trace of that name (otherwise to the first free one of PROGRAM.record.hdl, PROGRAM.record.2.hdl, …)."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *recordCommand) Help() string {
	return `Runs the program once, under one schedule, and writes the trace, however it ends. Ends with
1 if the execution failed.`
}

type recordJSON struct {
	Outcome string       `json:"outcome"` // found, clean
	Trace   string       `json:"trace"`
	Status  int32        `json:"status"`
	Cost    trace.Cost   `json:"cost"`
	Finding *findingJSON `json:"finding,omitempty"`
}

func (c *recordCommand) Run(a *app) error {
	opts := engine.RecordOptions{Seed: c.Seed, Sparse: !c.Accesses, Spurious: c.Spurious, EarlyTimeouts: c.EarlyTimeouts}
	if c.Strategy != "" {
		s, err := strategy.Parse(c.Strategy)
		if err != nil {
			return usage(err)
		}
		opts.Strategy = s
	}
	t, err := a.start(c.Program, c.programFlags, c.Without)
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.newTraceFiles(c.Output, c.Program.name()+".record.hdl")
	if err != nil {
		return err
	}
	tr, err := engine.Record(a.ctx, t, opts)
	if err != nil {
		return err
	}
	if c.Output, err = files.keep(tr, ""); err != nil {
		return err
	}
	out := recordJSON{Outcome: "clean", Trace: c.Output, Status: tr.Ending.Status, Cost: trace.CostOf(tr.Events)}
	failed := tr.Ending.Kind.Failed()
	if failed {
		out.Outcome = "found"
		out.Finding = findingOf(tr, t)
		out.Finding.Confirmed = false // it ran once
	}
	if a.JSON {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		if failed {
			fmt.Fprintln(a.stdout, headline(out.Finding.Kind, out.Finding.Message))
		}
		ended := ""
		if !failed && tr.Ending.Status != 0 {
			ended = fmt.Sprintf("exit status %d, ", tr.Ending.Status)
		}
		fmt.Fprintf(a.stdout, "recorded: %s (%s%s, %s, %s)\n",
			c.Output, ended, count(out.Cost.Events, "event"), count(out.Cost.Switches, "context switch"), count(out.Cost.Threads, "thread"))
	}
	if failed {
		return errFound
	}
	return nil
}
