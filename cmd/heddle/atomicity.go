package main

import (
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

type atomicityCommand struct {
	programFlags
	Time         time.Duration `default:"60s" help:"Take at most this long in all, simplification included; 0 for no limit."`
	SimplifyTime time.Duration `default:"10s" help:"Simplify each finding at most this long."`
	seedFlag
	NoSimplify bool   `help:"Do not simplify the traces."`
	Output     string `short:"o" placeholder:"FILE" help:"Write the trace of the first finding to FILE (otherwise to the first free one of PROGRAM.hdl, PROGRAM.2.hdl, …)."`
	jobsFlag
	expectFlag
	drawFlags
	statsFlag

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *atomicityCommand) Help() string {
	return `Looks for atomicity violations (CTrigger, ASPLOS 2009). Records some executions with all
accesses, lists the unserializable interleavings that the accesses allow (two accesses of one thread,
p and c, and another thread's r in between), prunes those that locks, thread creation, barriers or the
lifetime of memory rule out, and forces the others, the least likely first. For each it says
whether the program failed (a finding, with a trace), ran on unharmed, or could not be made
to do it, and why. Ends with 1 if an execution failed, and otherwise with 0.`
}

func (c *atomicityCommand) options() (engine.Options, error) {
	if c.Time < 0 || c.SimplifyTime < 0 {
		return engine.Options{}, usage.Errorf("--time and --simplify-time cannot be negative")
	}
	if err := c.checkExit(); err != nil {
		return engine.Options{}, err
	}
	processes, err := c.processes()
	if err != nil {
		return engine.Options{}, err
	}
	return engine.Options{
		Seed: c.Seed, Time: c.Time, ExpectStatus: c.ExpectExit, All: true, NoSimplify: c.NoSimplify, StopWhenSequential: true,
		Simplify: engine.SimplifyOptions{Time: c.SimplifyTime, ExtraTime: c.SimplifyTime / 3, NoExtra: c.SimplifyTime == 0, Processes: processes},
	}, nil
}

func (c *atomicityCommand) Run(a *app) error {
	opts, err := c.options()
	if err != nil {
		return err
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
	if !t.Header().Instrumented {
		return fmt.Errorf("%s was not compiled with heddle cc, so its memory accesses are not seen, and there is nothing to force", c.Program.name())
	}
	files, err := a.traceWriter(c.Output, c.Program.name()+".hdl", tracefile.Derived(c.Output, "min"))
	if err != nil {
		return err
	}
	names := report.NewRunning(t.Modules)
	opts.Simplify.Memory = a.memory()
	opts.Keep, opts.Where, opts.Locate, opts.Objects = files.Keep, names.Place, names.Locate, names.Object
	opts.Untold = toolchain.Untold
	var search *strategy.CTrigger
	opts.Search = func(s strategy.Setting) strategy.Strategy {
		search = strategy.NewCTrigger(s)
		return search
	}
	p := a.progress()
	found, err := engine.Find(a.ctx, t, opts, p.find)
	p.done()
	if err != nil && found.Finding == nil && found.Outcome != engine.Interrupted {
		return err
	}
	out := result.AtomicityOf(found, search, names)
	if a.JSON {
		out.Search.Seed = c.Seed
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, n := range found.Notes {
			fmt.Fprintf(a.stderr, "heddle: note: %s\n", n)
		}
		printer := a.printer(c.drawFlags, c.statsFlag)
		printer.Seed = c.Seed
		if found.Finding != nil {
			if err := printer.Find(found); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout)
		}
		printer.Atomicity(&out)
	}
	return a.ended(found, err)
}
