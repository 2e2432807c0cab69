package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

type atomicityCommand struct {
	programFlags
	Time         time.Duration `default:"60s" help:"Take at most this long in all, simplification included; 0 for no limit."`
	SimplifyTime time.Duration `default:"10s" help:"Simplify each finding at most this long."`
	seedFlag
	Backend     string        `enum:"controlled,live" default:"controlled" help:"Where to execute: on heddle's scheduler, exactly (controlled), or with threads in parallel, which are suspended around the instructions (live)."`
	Suspend     time.Duration `help:"With --backend=live, suspend a thread at most this long; 0 for twice as long as an undisturbed execution takes, 2 to 50 ms."`
	Suspensions int           `default:"20" placeholder:"N" help:"With --backend=live, suspend threads at most N times in an execution for an interleaving."`
	SameThreads bool          `help:"With --backend=live, suspend only the threads that the profile showed at the instructions."`
	SameStacks  bool          `help:"With --backend=live, suspend threads only on the stacks of calls that the profile showed."`
	NoSimplify  bool          `help:"Do not simplify the traces."`
	MaxSteps    int           `placeholder:"N" help:"On the controlled scheduler, let an execution pass at most N scheduling points; one that does not end by then is unfinished (0, the default: ${steps}, or for C and C++ 8 times as many as the first execution needed, if that is more)."`
	Output      string        `short:"o" placeholder:"FILE" help:"Write the trace of the first finding to FILE (otherwise to the first free one of PROGRAM.hdl, PROGRAM.2.hdl, …)."`
	jobsFlag
	syncOnlyFlag
	expectFlag
	drawFlags
	statsFlag

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

// suspensions is the default of --suspensions.
const suspensions = 20

func (c *atomicityCommand) Help() string {
	return `Looks for atomicity violations (CTrigger, ASPLOS 2009). Records some executions with all
accesses, lists the unserializable interleavings that the accesses allow (two accesses of one thread,
p and c, and another thread's r in between), prunes those that locks, thread creation, barriers or the
lifetime of memory rule out, and forces the others, the least likely first. For each it says
whether the program failed (a finding, with a trace), ran on unharmed, or could not be made
to do it, and why. Ends with 1 if an execution failed, with 3 if the search was interrupted, or none failed and
not everything could be recorded, and otherwise with 0.`
}

func (c *atomicityCommand) options() (engine.Options, error) {
	if c.Time < 0 || c.SimplifyTime < 0 || c.MaxSteps < 0 {
		return engine.Options{}, usage.Errorf("--time, --simplify-time and --max-steps cannot be negative")
	}
	if c.Suspend < 0 || c.Suspensions <= 0 {
		return engine.Options{}, usage.Errorf("--suspend cannot be negative, and --suspensions must be positive")
	}
	if c.Backend != "live" && (c.Suspend != 0 || c.Suspensions != suspensions || c.SameThreads || c.SameStacks) {
		return engine.Options{}, usage.Errorf("--suspend, --suspensions, --same-threads and --same-stacks go with --backend=live")
	}
	if err := c.checkExit(); err != nil {
		return engine.Options{}, err
	}
	processes, err := c.processes()
	if err != nil {
		return engine.Options{}, err
	}
	return engine.Options{
		Seed: c.Seed, Time: c.searching(), MaxSteps: c.MaxSteps, ExpectStatus: c.ExpectExit, All: true, NoSimplify: c.NoSimplify, StopWhenSequential: true, SyncOnly: c.SyncOnly,
		Simplify: engine.SimplifyOptions{Time: c.SimplifyTime, ExtraTime: c.SimplifyTime / 3, NoExtra: c.SimplifyTime == 0, Processes: processes},
	}, nil
}

// searching is the part of --time for the search, so that some is left to find out which interleavings are to blame.
func (c *atomicityCommand) searching() time.Duration { return c.Time * 3 / 4 }

// limited returns a context that ends --time after began.
func (c *atomicityCommand) limited(a *app, began time.Time) (context.Context, context.CancelFunc) {
	left := c.Time
	if left > 0 {
		left = max(left-time.Since(began), 1)
	}
	return engine.Limited(a.ctx, left)
}

func (c *atomicityCommand) Run(a *app) error {
	began := time.Now()
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
	if c.Backend == "live" && t.Header().Target == "go" {
		return errors.New("the backend live is for C and C++ programs: Go's runtime schedules goroutines itself; leave --backend out")
	}
	if !t.Header().Instrumented && (!c.SyncOnly || c.Backend == "live") {
		return errors.New(noHooks + ", and there is nothing to force: compile it with heddle cc or heddle c++, or give --sync-only, without --backend=live, to search it for other failures")
	}
	files, err := a.traceWriter(c.Output, c.Program.name()+".hdl", tracefile.Derived(c.Output, "min"))
	if err != nil {
		return err
	}
	names := report.NewRunning(t.Modules)
	opts.Simplify.Memory = a.memory()
	opts.Keep, opts.Where, opts.Locate, opts.Objects = files.Keep, names.Place, names.Locate, names.Object
	opts.Untold = toolchain.Untold
	if c.Backend == "live" {
		return c.live(a, program, t, names, opts, began)
	}
	var search *strategy.CTrigger
	opts.Search = func(s strategy.Setting) strategy.Strategy {
		search = strategy.NewCTrigger(s)
		return search
	}
	p := a.progress().of(t)
	defer p.done()
	found, err := engine.Find(a.ctx, t, opts, p.find)
	if err != nil && found.Finding == nil && found.Outcome != engine.Interrupted {
		return err
	}
	if a.ctx.Err() == nil {
		bounded, cancel := c.limited(a, began)
		defer cancel()
		if err := engine.CheckBugs(bounded, t, search, found, p.checking); err != nil {
			return err
		}
	}
	p.done()
	if found.Finding == nil && search.Profile().Runs() == 0 && !found.Sequential && found.Outcome != engine.Interrupted && (found.Unfinished == nil || !a.JSON) {
		if found.Unfinished != nil {
			result.PrintUnfinished(a.stdout, found.Unfinished)
			return unfinishedError(found)
		}
		return c.nothing(found.Seconds)
	}
	out := result.AtomicityOf(found, search, names)
	if err := c.print(a, &out, found); err != nil {
		return err
	}
	if err := a.ended(found, err); err != nil || found.Sequential {
		return err
	}
	return incomplete(search.Missing())
}

// incomplete is the error of a search that found no failure, and whose profile lacks something.
func incomplete(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("no execution failed, but interleavings may be missing, so this is not a clean result: %s; raise --time or --memory, or give the program less work", strings.Join(missing, "; "))
}

// nothing is the error of a search that recorded no execution.
func (c *atomicityCommand) nothing(seconds float64) error {
	return fmt.Errorf("no execution was recorded in %.1f s: nothing is known about the program; raise --time, or give it less work", seconds)
}

// print prints the findings, and then the interleavings.
func (c *atomicityCommand) print(a *app, out *result.Atomicity, found *engine.Report) error {
	if a.JSON {
		out.Search.Seed = c.Seed
		return a.printJSON(out)
	}
	for _, n := range found.Notes {
		fmt.Fprintf(a.stderr, "heddle: note: %s\n", n)
	}
	printer := a.printer(c.drawFlags, c.statsFlag)
	printer.Seed, printer.Inexact = c.Seed, c.Backend == "live"
	if found.Finding != nil {
		if err := printer.Find(found); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout)
	}
	printer.Atomicity(out)
	if len(found.Findings) == 0 { // otherwise they are said with them
		result.PrintUnfinished(a.stdout, found.Unfinished)
	}
	return nil
}

// exactTime bounds the search for an exact trace of what failed on the backend live.
const exactTime = 10 * time.Second

// live searches on the backend live. t is the program on the controlled scheduler, where what
// failed is forced again, to get a trace that can be replayed exactly.
func (c *atomicityCommand) live(a *app, program launch.Program, t target.Target, names *report.Running, opts engine.Options, began time.Time) error {
	l := a.launcher()
	prepared, err := l.Live(a.ctx, program, t.Modules())
	if err != nil {
		return err
	}
	p := a.progress()
	r, err := engine.Live(a.ctx, prepared, engine.LiveOptions{
		Time: c.searching(), Expect: int(c.status()), Seed: c.Seed, Suspend: c.Suspend, Budget: c.Suspensions, Memory: a.memory(), Threads: c.SameThreads, Stacks: c.SameStacks, Watchdog: c.Watchdog,
	}, p.live)
	if err != nil && r.Ended != engine.ByInterrupt {
		p.done()
		return err
	}
	bugs, others := 0, []atomicity.Interleaving(nil)
	for i := range r.Targets {
		x := &r.Targets[i]
		if bugs += x.Failures; x.Failures+x.Others+x.Recorded > 0 || r.Doubtful {
			others = append(others, x.Interleaving)
		}
	}
	exact, search := &engine.Report{}, (*strategy.CTrigger)(nil)
	bounded, cancel := c.limited(a, began)
	defer cancel()
	if len(others) > 0 && bounded.Err() == nil {
		opts.Search = func(s strategy.Setting) strategy.Strategy {
			search = strategy.NewForcing(s, r.Sharing, others...)
			return search
		}
		opts.Time = exactTime + opts.Simplify.Time
		if end, ok := bounded.Deadline(); ok {
			opts.Time = min(opts.Time, max(time.Until(end)*3/4, time.Millisecond))
		}
		if exact, err = engine.Find(a.ctx, t, opts, p.find); err != nil && exact.Finding == nil {
			exact.Notes = append(exact.Notes, fmt.Sprintf("no exact trace: %v", err))
		}
		if err := engine.CheckBugs(bounded, t, search, exact, p.checking); err != nil && bounded.Err() == nil {
			exact.Notes = append(exact.Notes, fmt.Sprintf("not checked on the controlled scheduler: %v", err))
		}
	}
	p.done()
	if r.Profile.Runs() == 0 && r.Plain == "" && r.Ended != engine.ByInterrupt {
		return c.nothing(r.Seconds)
	}
	out := result.LiveOf(r, result.Of(exact), search, names)
	write := func(x *result.Interleaving, control *engine.Control, failure string) (string, error) {
		return l.WriteControl(&launch.ControlRecord{
			Expect: int(c.status()), Modules: t.Modules(), Control: *control,
			Pattern: x.Pattern, Object: x.Object, Places: [3]string{x.P.Where, x.R.Where, x.C.Where}, Failure: failure,
		}, program)
	}
	for i := range r.Targets {
		x, control := &out.Interleavings[i], r.Targets[i].Control
		if control == nil {
			continue
		}
		if x.Control, err = write(x, control, r.Targets[i].Failure); err != nil {
			return err
		}
		if control == r.PlainControl {
			out.Live.PlainControl = x.Control
		}
	}
	if r.PlainControl != nil && out.Live.PlainControl == "" {
		if out.Live.PlainControl, err = write(&out.Interleavings[r.PlainTarget], r.PlainControl, r.Plain); err != nil {
			return err
		}
	}
	if err := c.print(a, &out, exact); err != nil {
		return err
	}
	switch {
	case bugs > 0 || r.Plain != "" || exact.Finding != nil:
		return errFound
	case a.ctx.Err() != nil:
		return errors.New("interrupted")
	}
	return incomplete(r.Missing)
}
