package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/simplify/bintrcred"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type simplifyCommand struct {
	Output     string        `short:"o" placeholder:"FILE" help:"Write the simplified trace to FILE (otherwise beside the trace, with .min, .min2, … before the suffix)."`
	Executions int           `placeholder:"N" help:"Run the program at most N times."`
	Time       time.Duration `placeholder:"DURATION" help:"Try this long, until the result is shown to be minimal; what was reached by then is written. Without a limit, heddle stops when nothing helps any more."`
	Static     bool          `help:"Run nothing: reorder what is independent. For traces of any format."`
	Gap        bool          `help:"With --static: say how far the result is from the fewest context switches there can be."`
	Derivation string        `placeholder:"FILE" help:"With --static: write BinTrcRed's derivation, the proof, to FILE."`
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
	case c.Static:
		return c.runStatic(a)
	case c.Gap, c.Derivation != "":
		return usage.Errorf("--gap and --derivation go with --static")
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
	s, err := engine.Simplify(a.ctx, t, tr, engine.SimplifyOptions{Executions: c.Executions, Time: c.Time, Endless: c.Time > 0, Processes: processes, Memory: a.memory(), Where: names.Place, Locate: names.Locate, Objects: names.Object}, func(s tinertia.Progress) {
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
	fmt.Fprintf(a.stdout, "\nsimplified: %s%s\nreplay:     heddle replay %s\n", c.Output, result.Unsimplified(s), wording.Quoted(c.Output))
	return err
}

// staticJSON is what simplify --static --json prints.
type staticJSON struct {
	Trace      string          `json:"trace,omitempty"`
	Events     int             `json:"events"`
	Before     int             `json:"before"` // context switches
	After      int             `json:"after"`
	Gap        *static.Gap     `json:"gap,omitempty"`
	Derivation *derivationJSON `json:"derivation,omitempty"`
	Seconds    float64         `json:"seconds"`
}

type derivationJSON struct {
	File   string           `json:"file"`
	Steps  int              `json:"steps"`
	Before int              `json:"before"`
	After  int              `json:"after"`
	Phases bintrcred.Phases `json:"phases"` // ns
}

// runStatic simplifies without running anything.
func (c *simplifyCommand) runStatic(a *app) error {
	began := time.Now()
	var out staticJSON
	if c.Derivation != "" {
		d, err := c.derive(a.ctx)
		if err != nil {
			return err
		}
		out.Derivation = d
	}
	var g *depend.Graph
	if tracefile.FormatOf(c.Trace) == tracefile.Statements {
		t, err := tracefile.ReadStatements(c.Trace)
		if err != nil {
			return err
		}
		g = stmt.Graph(t)
		r, err := static.Simplify(a.ctx, g, static.DefaultEffort)
		if err != nil {
			return err
		}
		out.Events, out.Before, out.After = g.Len(), r.Before, r.After
	} else {
		in, err := tracefile.ReadAny(c.Trace)
		if err != nil {
			return err
		}
		reordered, r, err := static.Reordered(a.ctx, in.Trace)
		if err != nil {
			return err
		}
		out.Events, out.Before, out.After = len(in.Trace.Events), r.Before, r.After
		if c.Output == "" {
			c.Output = tracefile.Derived(c.Trace, "static")
		}
		reordered.Header.Original = c.Trace
		in.Trace = reordered
		if _, err := tracefile.WriteAny(c.Output, in); err != nil {
			return err
		}
		out.Trace = c.Output
		if c.Gap {
			g = depend.Build(reordered)
		}
	}
	if c.Gap {
		best, err := static.Optimum(a.ctx, g, nil, static.DefaultLimits)
		if err != nil {
			return err
		}
		gap := static.GapOf(out.After, best)
		out.Gap = &gap
	}
	out.Seconds = time.Since(began).Seconds()
	if a.JSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "%s events, %d context switches before, %d after, the same execution (%.2f s)\n", wording.Thousands(out.Events), out.Before, out.After, out.Seconds)
	if out.Gap != nil {
		fmt.Fprintf(a.stdout, "distance from the fewest with these dependences: %v\n", *out.Gap)
	}
	if d := out.Derivation; d != nil {
		fmt.Fprintf(a.stdout, "BinTrcRed: %d context switches before, %d after, %s steps\n", d.Before, d.After, wording.Thousands(d.Steps))
		if p := d.Phases; c.Stats {
			fmt.Fprintf(a.stdout, "  counting %v, semantics %v, connectivity %v, reduction %v, counting %v, semantics %v\n",
				p.CountBefore, p.SemanticsBefore, p.Connectivity, p.Reduction, p.CountAfter, p.SemanticsAfter)
		}
		fmt.Fprintf(a.stdout, "derivation: %s\ncheck:      heddle check derivation %s %s\n", d.File, c.Trace, d.File)
	}
	if out.Trace != "" {
		fmt.Fprintf(a.stdout, "simplified: %s\n", out.Trace)
	}
	return nil
}

// derive runs BinTrcRed and writes its derivation.
func (c *simplifyCommand) derive(ctx context.Context) (*derivationJSON, error) {
	t, err := tracefile.ReadStatements(c.Trace)
	if err != nil {
		return nil, err
	}
	r, err := bintrcred.Run(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Trace, err)
	}
	if err := tracefile.WriteWhole(c.Derivation, r.Derivation.Write); err != nil {
		return nil, err
	}
	return &derivationJSON{c.Derivation, r.Derivation.Steps(), r.Before, r.After, r.Phases}, nil
}
