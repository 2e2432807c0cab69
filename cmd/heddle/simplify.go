package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type simplifyCommand struct {
	Output     string        `short:"o" placeholder:"FILE" help:"Write the simplified trace to FILE (otherwise beside the trace, with .min, .min2, … before the suffix; .static with --static)."`
	Executions int           `placeholder:"N" help:"Run the program at most N times."`
	Time       time.Duration `placeholder:"DURATION" help:"Try this long, until the result is shown to be minimal; what was reached by then is written. Without a limit, heddle stops when nothing helps any more."`
	Suffix     int           `placeholder:"N" help:"Simplify only the last N context switches, and keep the schedule before as it is: for executions of a million events, which take seconds each."`
	Static     bool          `help:"Run nothing: reorder what is independent. For traces of any format."`
	Method     string        `enum:"fewest,merge,simtrace,bintrcred" default:"fewest" placeholder:"METHOD" help:"With --static: how to reorder: merge, simtrace or bintrcred, or the one of these with the fewest context switches (fewest)."`
	Gap        bool          `help:"With --static: say how far the result is from the fewest context switches there can be."`
	Derivation string        `placeholder:"FILE" help:"With --static: write the derivation of the result by swaps, the proof, to FILE."`
	jobsFlag
	drawFlags
	statsFlag
	runFlags

	traceArg
}

func (c *simplifyCommand) Help() string {
	return `Looks for the fewest context switches, then preemptions, threads and events, that still
show the failure of the trace (Tinertia), by executing candidates. With --stats it prints what
the tables of the paper print. Interrupted, it keeps the simplest trace found so far.`
}

type simplifyJSON struct {
	Trace    string `json:"trace"`
	Complete bool   `json:"complete"`
	Unproven string `json:"unproven,omitempty"`
	Cut      bool   `json:"cut"`
	// Confirmed: the simplified trace was replayed.
	Confirmed bool             `json:"confirmed"`
	Seconds   float64          `json:"seconds"`
	Result    *tinertia.Result `json:"result"`
}

func (c *simplifyCommand) Run(a *app) error {
	for _, name := range []string{c.Output, c.Derivation} {
		if name == "" {
			continue
		}
		if err := tracefile.NotInput(name, c.Trace); err != nil {
			return err
		}
		if err := tracefile.Writable(name); err != nil {
			return err
		}
	}
	switch {
	case c.Executions < 0 || c.Time < 0:
		return usage.Errorf("--executions and --time cannot be negative")
	case c.Static && c.Suffix > 0:
		return usage.Errorf("--suffix simplifies by executing, so it does not go with --static")
	case c.Static:
		return c.runStatic(a)
	case c.Gap, c.Derivation != "", c.Method != fewest:
		return usage.Errorf("--method, --gap and --derivation go with --static")
	}
	processes, err := c.processes()
	if err != nil {
		return err
	}
	tr, err := tracefile.ReadWithin(a.ctx, c.Trace)
	if err != nil {
		return err
	}
	if err := unfaulted(tr); err != nil {
		return err
	}
	if !tr.Ending.Kind.Failed() {
		return fmt.Errorf("%s: the trace shows no failure, so there is nothing to simplify", c.Trace)
	}
	t, err := a.launcher().StartRecorded(a.ctx, tr, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	p := a.progress()
	names := report.NewRunning(t.Modules)
	s, err := engine.Simplify(a.ctx, t, tr, engine.SimplifyOptions{Suffix: c.Suffix, Executions: c.Executions, Time: c.Time, Endless: c.Time > 0, Processes: processes, Memory: a.memory(), Where: names.Place, Locate: names.Locate, Objects: names.Object}, func(s tinertia.Progress) {
		p.line(fmt.Sprintf("simplify: %s, iteration %d, %s, %s", wording.Count(s.Executions, "execution"), s.Iteration, wording.Count(s.Cost.Switches, "switch"), wording.Count(s.Cost.Preemptions, "preemption")))
	})
	p.done()
	if s == nil {
		return err
	}
	var diverged *engine.DivergedError
	if errors.As(err, &diverged) {
		return err
	}
	if a.ctx.Err() != nil && trace.CostOf(s.Recorded.Events).Compare(trace.CostOf(tr.Events)) >= 0 {
		return errors.New("interrupted before a simpler execution was found: nothing is written")
	}
	if c.Output == "" && err == nil && tr.Header.Original != "" && trace.CostOf(s.Recorded.Events).Compare(trace.CostOf(tr.Events)) >= 0 {
		// A copy would only take another name.
		if a.JSON {
			return a.printJSON(simplifyJSON{c.Trace, s.Complete, s.Unproven, s.Cut, s.Confirmed, s.Seconds, s.Details})
		}
		fmt.Fprintf(a.stdout, "nothing simpler than %s was found: nothing is written%s\n", c.Trace, result.Unsimplified(s))
		return nil
	}
	if c.Output == "" {
		c.Output = tracefile.Derived(c.Trace, "min")
	}
	s.Recorded.Header.Original = c.Trace
	if werr := tracefile.Write(c.Output, s.Recorded); werr != nil {
		return werr
	}
	if a.JSON {
		if perr := a.printJSON(simplifyJSON{c.Output, s.Complete, s.Unproven, s.Cut, s.Confirmed, s.Seconds, s.Details}); perr != nil {
			return perr
		}
		return err
	}
	printer := a.printer(c.drawFlags, c.statsFlag)
	if perr := printer.Trace(s.Recorded); perr != nil {
		return perr
	}
	if c.Stats {
		fmt.Fprintln(a.stdout)
		if perr := printer.Summary(s.Details); perr != nil {
			return perr
		}
	}
	fmt.Fprintf(a.stdout, "\nsimplified: %s%s\nexecutions: %s\nreplay:     heddle replay %s\n", c.Output, result.Unsimplified(s), result.Simplifying(s.Details), wording.Quoted(c.Output))
	return err
}
