package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

type replayCommand struct {
	Times      int           `default:"1" help:"Number of times to replay."`
	Full       bool          `help:"Show every event, and fold nothing."`
	Quiet      bool          `short:"q" help:"Say only how it ended."`
	Changed    bool          `help:"The program has been changed since: follow the schedule as far as it goes."`
	Dlv        bool          `help:"Run the execution of a Go program in the debugger dlv, up to the failure."`
	Gdb        debuggerFlag  `name:"gdb" help:"Run the execution of a C or C++ program in gdb, with real threads, up to the failure; --gdb=PROGRAM for another gdb, or an lldb."`
	RaceReport bool          `help:"Build the Go program with Go's own race detector, which needs a C compiler, follow the schedule there and print its reports of data races."`
	Watchdog   time.Duration `default:"10s" help:"Call it a hang when the program runs this long without reaching a scheduling point."`

	isolationFlags

	Trace string `arg:"" predictor:"trace" help:"The trace."`
}

func (c *replayCommand) Help() string {
	return `Runs the program of the trace once more under the recorded schedule and compares every
event. Ends with 1 if the failure came again, 0 if the trace shows none, and 3 with the
first event that differed if the execution was another one.`
}

type replayJSON struct {
	Outcome string `json:"outcome"` // found, clean
	Same    bool   `json:"same"`
	Times   int    `json:"times"`
	// Interrupted: Times is how many there were by then.
	Interrupted bool         `json:"interrupted,omitempty"`
	Events      int          `json:"events"`
	Finding     *findingJSON `json:"finding,omitempty"`
	// Differs is set where the replay was not the recorded execution.
	Differs *differsJSON `json:"differs,omitempty"`
}

type differsJSON struct {
	Event    int    `json:"event"`
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Met      string `json:"met"`
	// Changed names what is not as it was when the trace was recorded: environment variables,
	// files that the program read, settings of the machine.
	Changed []string `json:"changed,omitempty"`
}

func (c *replayCommand) Run(a *app) error {
	switch {
	case c.Times < 1:
		return usage(errors.New("--times must be at least 1"))
	case (c.Dlv || c.Gdb != "") && (c.Changed || a.JSON):
		return usage(errors.New("--dlv and --gdb replay exactly, for people: they do not go with --changed or --json"))
	case c.RaceReport && (c.Changed || c.Dlv || c.Gdb != "" || c.Times > 1):
		return usage(errors.New("--race-report follows the schedule exactly, and once: it does not go with --changed, --dlv, --gdb or --times"))
	}
	tr, err := readTrace(c.Trace)
	if err != nil {
		return err
	}
	t, err := a.startRecorded(tr, c.Watchdog, c.isolationFlags)
	if err != nil {
		return err
	}
	defer t.Close()
	if c.Dlv {
		return a.debug(t, tr)
	}
	if c.RaceReport {
		return a.raceReport(t, tr, c.Watchdog)
	}
	if c.Gdb != "" {
		return a.debugGdb(t, tr, string(c.Gdb))
	}
	if c.Changed {
		return c.follow(a, t, tr)
	}
	p := a.progress()
	var again *trace.Trace
	done := 0
	for done < c.Times {
		now, rerr := engine.Replay(a.ctx, t, tr)
		if err = rerr; err != nil {
			break
		}
		again = now
		done++
		p.line(fmt.Sprintf("replay: %d of %d identical", done, c.Times))
	}
	p.done()
	// Interrupted, it says what it has so far.
	interrupted := done > 0 && errors.Is(err, context.Canceled)
	if interrupted {
		err = nil
	}
	failed := tr.Ending.Kind.Failed()
	if a.JSON {
		out := replayJSON{Outcome: "clean", Same: err == nil, Times: c.Times, Events: len(tr.Events)}
		if interrupted {
			out.Times, out.Interrupted = done, true
		}
		if failed {
			out.Outcome = "found"
			out.Finding = findingOf(tr, t)
			out.Finding.Confirmed = err == nil
		}
		var d *engine.DivergedError
		if errors.As(err, &d) {
			out.Differs = &differsJSON{d.Event, d.Field, d.RecordedText, d.MetText, d.Changed}
		}
		if err == nil || d != nil {
			if perr := a.printJSON(out); perr != nil {
				return perr
			}
		}
	}
	if err != nil {
		return err
	}
	if !a.JSON {
		if !c.Quiet {
			if err := a.showTrace(again, c.Full); err != nil {
				return err
			}
		}
		times := ""
		switch {
		case interrupted:
			times = fmt.Sprintf(" %s of %s times, then interrupted", thousands(done), thousands(c.Times))
		case c.Times > 1:
			times = fmt.Sprintf(" %s times", thousands(c.Times))
		}
		fmt.Fprintf(a.stdout, "replayed%s: %s events, identical\n", times, thousands(len(tr.Events)))
	}
	if failed {
		return errFound
	}
	return nil
}

// findingOf is the failure that a trace of the target's program shows, whose schedule was
// followed.
func findingOf(tr *trace.Trace, t target.Target) *findingJSON {
	f, where := finding.Of(tr.Ending, tr.Modules), placeNames(t)
	out := &findingJSON{Confirmed: true, Kind: f.Kind.String(), Message: f.Message, Where: where(f.Site, f.Exact), Strategy: tr.Header.Strategy, EarlyTimeouts: overtakings(tr)}
	for _, x := range tr.Ending.Accesses {
		out.Race = append(out.Race, accessJSON{x.Op.String(), where(x.Site, false)})
	}
	return out
}

// follow is a replay with another build of the program.
func (c *replayCommand) follow(a *app, t target.Target, tr *trace.Trace) error {
	met, changed, err := a.follow(t, tr)
	if err != nil {
		return err
	}
	failed := met.Ending.Kind.Failed()
	out := replayJSON{Outcome: "clean", Same: !changed, Times: 1, Events: len(met.Events)}
	if failed {
		out.Outcome = "found"
		out.Finding = findingOf(met, t)
	}
	if a.JSON {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		if !c.Quiet {
			if err := a.showTrace(met, c.Full); err != nil {
				return err
			}
		}
		how := "as it was recorded"
		if changed {
			how = "as far as it goes"
		}
		end := "no failure"
		if failed {
			end = headline(out.Finding.Kind, out.Finding.Message)
		}
		fmt.Fprintf(a.stdout, "followed the schedule %s: %s events, %s\n", how, thousands(out.Events), end)
	}
	if failed {
		return errFound
	}
	return nil
}
