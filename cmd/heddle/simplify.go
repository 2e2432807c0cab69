package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/trace"
)

type simplifyCommand struct {
	Output     string        `short:"o" placeholder:"FILE" help:"Write the simplified trace to FILE (otherwise beside the trace, with .min, .min2, … before the suffix)."`
	Executions int           `placeholder:"N" help:"Run the program at most N times."`
	Time       time.Duration `placeholder:"DURATION" help:"Try at most this long; what was reached by then is written."`
	Static     bool          `help:"Run nothing: reorder what is independent. For traces of any format."`
	Gap        bool          `help:"With --static: say how far the result is from the fewest context switches there can be."`
	Derivation string        `placeholder:"FILE" help:"With --static: write BinTrcRed's derivation, the proof, to FILE."`
	Full       bool          `help:"Show every event, and fold nothing."`
	Stats      bool          `help:"Print what was done, in tables."`
	Watchdog   time.Duration `default:"10s" help:"Call it a hang when the program runs this long without reaching a scheduling point."`

	isolationFlags

	Trace string `arg:"" predictor:"trace" help:"The trace."`
}

func (c *simplifyCommand) Help() string {
	return `Looks for the fewest context switches, then preemptions, threads and events, that still
show the failure of the trace (Tinertia), by executing candidates. With --stats it prints what
the tables of the paper print. Interrupted, it keeps the simplest trace found so far.`
}

type simplifyJSON struct {
	Trace    string `json:"trace"`
	Complete bool   `json:"complete"`
	// Confirmed: the simplified trace was replayed.
	Confirmed bool             `json:"confirmed"`
	Seconds   float64          `json:"seconds"`
	Result    *tinertia.Result `json:"result"`
}

func (c *simplifyCommand) Run(a *app) error {
	if c.Output != "" {
		if err := notInput(c.Output, c.Trace); err != nil {
			return err
		}
	}
	switch {
	case c.Executions < 0 || c.Time < 0:
		return usage(errors.New("--executions and --time cannot be negative"))
	case c.Static:
		return c.runStatic(a)
	case c.Gap, c.Derivation != "":
		return usage(errors.New("--gap and --derivation go with --static"))
	}
	tr, err := readTrace(c.Trace)
	if err != nil {
		return err
	}
	if !tr.Ending.Kind.Failed() {
		return fmt.Errorf("%s: %w, so there is nothing to simplify", c.Trace, errNoFailure)
	}
	t, err := a.startRecorded(tr, c.Watchdog, c.isolationFlags)
	if err != nil {
		return err
	}
	defer t.Close()
	p := a.progress()
	s, err := engine.Simplify(a.ctx, t, tr, engine.SimplifyOptions{Executions: c.Executions, Time: c.Time, Where: placeNames(t)}, func(s tinertia.Progress) {
		p.line(fmt.Sprintf("simplify: %s, iteration %d, %s, %s", count(s.Executions, "execution"), s.Iteration, count(s.Cost.Switches, "switch"), count(s.Cost.Preemptions, "preemption")))
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
	if c.Output == "" {
		c.Output = derivedName(c.Trace, "min")
	}
	s.Recorded.Header.Original = c.Trace
	if werr := trace.WriteFile(c.Output, s.Recorded); werr != nil {
		return werr
	}
	if a.JSON {
		if perr := a.printJSON(simplifyJSON{c.Output, s.Complete, s.Confirmed, s.Seconds, s.Details}); perr != nil {
			return perr
		}
		return err
	}
	if perr := a.showTrace(s.Recorded, c.Full); perr != nil {
		return perr
	}
	if c.Stats {
		fmt.Fprintln(a.stdout)
		if perr := a.showSummary(s.Details); perr != nil {
			return perr
		}
	}
	fmt.Fprintf(a.stdout, "\nsimplified: %s%s\nreplay:     heddle replay %s\n", c.Output, unsimplified(s), quoted(c.Output))
	return err
}
