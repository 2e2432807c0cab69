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
	expectFlag
	outputFlags
	Accesses  bool   `help:"Record all accesses to memory, not only scheduling points; --memory limits how many."`
	Values    bool   `help:"Record every access, repeated ones too, with the value read or written; implies --accesses. heddle sanitize and heddle compare need it."`
	Functions bool   `help:"Record entries and exits of functions, too; implies --values. C and C++ only. heddle compare then says in which call the control flow deviates."`
	ASLR      bool   `name:"aslr" help:"Let the system load the program at random addresses; otherwise they are the same in each execution, where the system allows that."`
	Output    string `short:"o" placeholder:"FILE" help:"Write the trace to FILE, replacing a trace of that name (otherwise to the first free one of PROGRAM.record.hdl, PROGRAM.record.2.hdl, …)."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *recordCommand) Help() string {
	return `Runs the program once, under one schedule, and writes the trace, however it ends. Ends with
1 if the execution failed.`
}

type recordJSON struct {
	Outcome string     `json:"outcome"` // found, clean
	Trace   string     `json:"trace"`
	Status  int32      `json:"status"`
	Events  int        `json:"events"` // in the trace
	Cost    trace.Cost `json:"cost"`
	// Accesses is the number of accesses recorded, if the execution made more.
	Accesses int             `json:"accesses,omitempty"`
	Finding  *result.Finding `json:"finding,omitempty"`
}

func (c *recordCommand) Run(a *app) error {
	if err := c.checkExit(); err != nil {
		return err
	}
	c.Values = c.Values || c.Functions
	opts := engine.RecordOptions{ExpectStatus: c.status(), Seed: c.Seed, Sparse: !c.Accesses && !c.Values, Values: c.Values, Functions: c.Functions, Spurious: c.Spurious, EarlyTimeouts: c.EarlyTimeouts}
	if c.Strategy != "" {
		s, err := strategy.Parse(c.Strategy)
		if err != nil {
			return usage.Wrap(err)
		}
		opts.Strategy = s
	}
	program, err := c.program(c.Program.words())
	if err == nil {
		err = c.outputFlags.set(&program.Outputs)
	}
	if err != nil {
		return err
	}
	how := c.how()
	how.Randomize = c.ASLR
	t, err := a.launcher().Start(a.ctx, program, how)
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
	out := recordJSON{Outcome: "clean", Trace: c.Output, Status: tr.Ending.Status, Events: len(tr.Events), Cost: trace.CostOf(tr.Events), Accesses: tr.Header.MaxAccesses}
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
		points := ""
		if out.Events != out.Cost.Events {
			points = fmt.Sprintf(" (%s of them at scheduling points)", wording.Thousands(out.Cost.Events))
		}
		if out.Accesses > 0 {
			a.note(fmt.Sprintf("only the first %s allocations and accesses to memory were recorded, and all scheduling points: --memory SIZE allows for more", wording.Thousands(out.Accesses)))
		}
		fmt.Fprintf(a.stdout, "recorded: %s (%s%s%s, %s, %s)\n",
			c.Output, ended, wording.Count(out.Events, "event"), points, wording.Count(out.Cost.Switches, "context switch"), wording.Count(out.Cost.Threads, "thread"))
	}
	if failed {
		return errFound
	}
	return nil
}
