package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
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
	timeFlag
	MaxSteps  int    `placeholder:"N" help:"Let the execution pass at most N scheduling points; if it does not end by then, it is unfinished (0, the default: ${steps}, or for C and C++ 8 times as many)."`
	Accesses  bool   `help:"Record all accesses to memory, not only scheduling points; --memory limits how many."`
	Values    bool   `help:"Record every access, repeated ones too, with the value read or written; implies --accesses. heddle sanitize and heddle compare need it."`
	Functions bool   `help:"Record entries and exits of functions, too; implies --values. C and C++ only. heddle compare then says in which call the control flow deviates."`
	Backend   string `enum:"controlled,live" default:"controlled" help:"Where to execute: on heddle's scheduler (controlled), or with threads in parallel (live), for heddle sanitize and heddle compare: with --values, and without a schedule that could be replayed."`
	ASLR      bool   `name:"aslr" help:"Load the program, and place its heap and stacks, at random addresses; otherwise they are the same in each execution, where the system allows that."`
	Output    string `short:"o" placeholder:"FILE" help:"Write the trace to FILE, replacing a trace of that name (otherwise to the first free one of PROGRAM.record.hdl, PROGRAM.record.2.hdl, …)."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *recordCommand) Help() string {
	return `Runs the program once, under one schedule, and writes the trace, however it ends. Ends with
1 if the execution failed, and with 3 if heddle had to end it: then the trace says how far it came.`
}

type recordJSON struct {
	Outcome string     `json:"outcome"` // found, clean, unfinished
	Trace   string     `json:"trace"`
	Status  int32      `json:"status"`
	Events  int        `json:"events"` // in the trace
	Cost    trace.Cost `json:"cost"`
	// Accesses is the number of accesses recorded, if the execution made more.
	Accesses int             `json:"accesses,omitempty"`
	Finding  *result.Finding `json:"finding,omitempty"`
	// Unfinished says where the threads were if heddle ended the execution before it was over.
	Unfinished *engine.UnfinishedExecutions `json:"unfinished,omitempty"`
}

func (c *recordCommand) Run(a *app) error {
	if err := c.checkExit(); err != nil {
		return err
	}
	c.Values = c.Values || c.Functions
	if c.MaxSteps < 0 {
		return usage.Errorf("--max-steps cannot be negative")
	}
	opts := engine.RecordOptions{ExpectStatus: c.status(), Seed: c.Seed, MaxSteps: c.MaxSteps, Sparse: !c.Accesses && !c.Values, Values: c.Values, Functions: c.Functions, Spurious: c.Spurious, EarlyTimeouts: c.EarlyTimeouts}
	if c.Strategy != "" {
		s, err := strategy.Parse(c.Strategy)
		if err != nil {
			return usage.Wrap(err)
		}
		opts.Strategy = s
	}
	if c.Backend == "live" {
		if err := c.checkLive(); err != nil {
			return err
		}
	}
	program, err := c.judgedProgram(c.Program.words(), c.outputFlags)
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
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	tr, err := c.record(ctx, a, program, t, opts)
	if err != nil {
		return c.overtime(ctx, a, t, err)
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
	if tr.Ending.Kind == trace.Unfinished {
		names := report.NewRunning(t.Modules)
		out.Outcome = result.Unfinished
		out.Unfinished = engine.UnfinishedExecution(&schedule.Outcome{Ending: tr.Ending, Points: out.Cost.Events, Trace: tr}, names.Locate, names.Object)
	}
	if a.JSON {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		if failed {
			fmt.Fprintln(a.stdout, out.Finding.Headline())
		}
		result.PrintUnfinished(a.stdout, out.Unfinished)
		ended := ""
		if !failed && tr.Ending.Status != 0 {
			ended = fmt.Sprintf("exit status %d, ", tr.Ending.Status)
		}
		points := ""
		if out.Events != out.Cost.Events {
			points = fmt.Sprintf(" (%s of them at scheduling points)", wording.Thousands(out.Cost.Events))
		}
		if out.Accesses > 0 {
			first, all := fmt.Sprintf("the first %s allocations and accesses to memory", wording.Thousands(out.Accesses)), "scheduling points"
			if c.Backend == "live" {
				first, all = fmt.Sprintf("the allocations and accesses to memory among the first %s events of each thread", wording.Thousands(out.Accesses)), "synchronisation"
			}
			a.note(fmt.Sprintf("only %s were recorded, and all %s: --memory SIZE allows for more", first, all))
		}
		if c.Backend == "live" {
			fmt.Fprintf(a.stdout, "recorded: %s (%s%s, %s in parallel)\n", c.Output, ended, wording.Count(out.Events, "event"), wording.Count(len(tr.Threads), "thread"))
		} else {
			fmt.Fprintf(a.stdout, "recorded: %s (%s%s%s, %s, %s)\n",
				c.Output, ended, wording.Count(out.Events, "event"), points, wording.Count(out.Cost.Switches, "context switch"), wording.Count(out.Cost.Threads, "thread"))
		}
	}
	switch {
	case failed:
		return errFound
	case out.Unfinished != nil && a.ctx.Err() != nil:
		return errors.New("interrupted")
	case out.Unfinished != nil:
		return errors.New("the execution did not end: " + out.Unfinished.Advice())
	}
	return nil
}

// checkLive refuses what the backend live cannot do.
func (c *recordCommand) checkLive() error {
	switch {
	case !c.Values:
		return usage.Errorf("--backend=live records for heddle sanitize and heddle compare: give --values, too")
	case c.Functions:
		return usage.Errorf("--functions does not go with --backend=live, which records no entries and exits of functions: leave one of them out")
	case c.Strategy != "" || c.Seed != 1 || c.Spurious || c.EarlyTimeouts || c.MaxSteps != 0:
		return usage.Errorf("--strategy, --seed, --spurious, --early-timeouts and --max-steps are about a schedule, which with --backend=live is the kernel's: leave them out")
	case len(c.Omit) > 0 || len(c.TryLock) > 0:
		return usage.Errorf("--omit and --try-lock need heddle's scheduler: leave out --backend=live")
	}
	return nil
}

// record executes the program once. t is the program on heddle's scheduler.
func (c *recordCommand) record(ctx context.Context, a *app, program launch.Program, t target.Target, opts engine.RecordOptions) (*trace.Trace, error) {
	if c.Functions && t.Header().Target == "go" {
		return nil, errors.New("--functions is for C and C++ programs, and heddle records no entries and exits of Go's functions: give --values instead")
	}
	if c.Backend != "live" {
		return engine.Record(ctx, t, opts)
	}
	h := t.Header()
	switch {
	case h.Target == "go":
		return nil, errors.New("the backend live is for C and C++ programs: Go's runtime schedules goroutines itself; leave --backend out")
	case !h.Instrumented:
		return nil, errors.New("the program has no accesses to record: compile it with heddle cc, or with gcc -fsanitize=thread")
	}
	p, err := a.launcher().Live(a.ctx, program, t.Modules())
	if err != nil {
		return nil, err
	}
	most := int(a.memory() / liveEventBytes)
	return engine.RecordLive(ctx, p, t, engine.RecordLiveOptions{MaxAccesses: most, ExpectStatus: c.status(), Watchdog: c.Watchdog})
}

// liveEventBytes is what an event of the backend live takes while heddle orders the threads' events by time.
const liveEventBytes = 512
