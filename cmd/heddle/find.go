package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

type findCommand struct {
	programFlags
	withoutFlags
	Time            time.Duration `default:"60s" help:"Take at most this long in all, simplification included; 0 for until Ctrl-C. The first execution may take longer while it shows no sign of life, until --watchdog calls it a hang."`
	SimplifyTime    time.Duration `default:"30s" placeholder:"DURATION" help:"Simplify at most this long; 0 for no bound but --time."`
	Runs            int           `help:"Explore at most this many executions."`
	Stale           int           `default:"${stale}" placeholder:"N" help:"End early when N executions in a row, and half of all, have shown nothing new; 0 for never. Never with --runs or --time 0."`
	Seed            uint64        `default:"1" help:"Choose another sequence of schedules. The same seed and build give the same first finding."`
	Strategy        []string      `placeholder:"NAME" help:"Use only these strategies: random, stay, pct, pos. Otherwise they take turns."`
	Output          string        `short:"o" placeholder:"FILE" help:"Write the trace to FILE, replacing a trace of that name (otherwise to the first free one of PROGRAM.hdl, PROGRAM.2.hdl, …), and the simplified one to the same name with .min before the suffix."`
	NoSimplify      bool          `help:"Stop at the trace that was found."`
	ExpectExit      *int32        `placeholder:"STATUS" help:"Call every other exit status a failure (otherwise: every status other than the first execution's)."`
	EarlyTimeouts   bool          `help:"Let any time-out, sleep or timer end while other threads could run; otherwise they are delayed by 100 ms in all at most." xor:"early"`
	NoEarlyTimeouts bool          `help:"Never let one end while another thread could run." xor:"early"`
	RacesFail       bool          `help:"Call a data race a failure, too, even if the program goes on to succeed."`
	Spurious        bool          `help:"Let waits on condition variables and futexes end without a waker, as POSIX allows."`
	MaxSteps        int           `placeholder:"N" help:"Call an execution of more than N scheduling points a hang."`
	Full            bool          `help:"Show every event, and fold nothing."`
	Stats           bool          `help:"Print what simplification did, in tables."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *findCommand) Help() string {
	return `Runs the program again and again under different schedules until one breaks it: a
failed assertion, a fatal signal, a deadlock, a hang, misuse of a lock or of memory, an
uncaught exception, another exit status; with --races-fail a data race as well. Writes the
trace, simplifies it, shows it, and prints the command that replays it. Ends with 1 if a bug
was found, 0 if none was, and 3 if no execution ended, so nothing is known.`
}

// findJSON is what --json prints; docs/json.md.
type findJSON struct {
	Outcome    string      `json:"outcome"` // found, clean, interrupted, unfinished
	Ended      string      `json:"ended"`
	Seed       uint64      `json:"seed"`
	Executions int         `json:"executions"`
	Seconds    float64     `json:"seconds"`
	Behaviours int         `json:"behaviours"`
	Newest     int         `json:"newest"`
	Unseen     *unseenJSON `json:"unseen,omitempty"`
	Points     int         `json:"points"`
	// Unreproduced counts executions that failed and did not fail again.
	Unreproduced int `json:"unreproduced,omitempty"`
	// RacesIncomplete says why races may have been missed.
	RacesIncomplete string         `json:"races_incomplete,omitempty"`
	Notes           []string       `json:"notes,omitempty"`
	Races           []raceJSON     `json:"races"`
	Finding         *findingJSON   `json:"finding,omitempty"`
	Trace           string         `json:"trace,omitempty"`
	Simplified      *simplifedJSON `json:"simplified,omitempty"`
}

type unseenJSON struct {
	Estimate float64 `json:"estimate"`
	Below    float64 `json:"below,omitempty"`
}

type findingJSON struct {
	// Confirmed: the failure came again when its trace was followed.
	Confirmed bool   `json:"confirmed"`
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Where     string `json:"where"`
	Strategy  string `json:"strategy"`
	Execution int    `json:"execution"`
	// EarlyTimeouts is how many time-outs, sleeps and timers ended while other threads could
	// run, in the trace that is shown.
	EarlyTimeouts int `json:"early_timeouts,omitempty"`
	// Race has both sides of a data race, in the order in which they happened.
	Race []accessJSON `json:"race,omitempty"`
}

type accessJSON struct {
	Op    string `json:"op"`
	Where string `json:"where"`
}

// headline is a failure in one line. Some messages begin with their kind.
func headline(kind, message string) string {
	if strings.HasPrefix(strings.TrimPrefix(message, "uncaught "), kind+":") {
		return message
	}
	return kind + ": " + message
}

type simplifedJSON struct {
	Trace       string  `json:"trace"`
	Events      int     `json:"events"`
	Threads     int     `json:"threads"`
	Switches    int     `json:"switches"`
	Preemptions int     `json:"preemptions"`
	Executions  int     `json:"executions"`
	Seconds     float64 `json:"seconds"`
	Complete    bool    `json:"complete"`
	Confirmed   bool    `json:"confirmed"`
}

// staleFind is the default of --stale; docs/exploration.md has the figures behind it.
const staleFind = "100000"

func (c *findCommand) options() (engine.Options, error) {
	opts := engine.Options{
		Seed: c.Seed, Runs: c.Runs, Time: c.Time, ExpectStatus: c.ExpectExit, MaxSteps: c.MaxSteps, NoSimplify: c.NoSimplify,
		EarlyTimeouts: c.EarlyTimeouts, NoEarlyTimeouts: c.NoEarlyTimeouts, Spurious: c.Spurious, RacesFail: c.RacesFail,
		StopWhenSequential: true, Simplify: engine.SimplifyOptions{Time: c.SimplifyTime},
	}
	if c.Runs < 0 || c.Time < 0 || c.SimplifyTime < 0 || c.MaxSteps < 0 || c.Stale < 0 {
		return opts, usage(errors.New("--runs, --time, --simplify-time, --stale and --max-steps cannot be negative"))
	}
	if e := c.ExpectExit; e != nil && (*e < 0 || *e > 255) {
		return opts, usage(fmt.Errorf("--expect-exit %d is not an exit status: want 0 to 255", *e))
	}
	if c.Runs == 0 && c.Time > 0 {
		opts.Stale = c.Stale
	}
	for _, name := range c.Strategy {
		s, err := strategy.Parse(name)
		if err != nil {
			return opts, usage(err)
		}
		opts.Samplers = append(opts.Samplers, s)
	}
	return opts, nil
}

func (c *findCommand) Run(a *app) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	t, err := a.start(c.Program, c.programFlags, c.Without)
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.newTraceFiles(c.Output, c.Program.name()+".hdl", derivedName(c.Output, "min"))
	if err != nil {
		return err
	}
	opts.Keep, opts.Where, opts.Objects = files.keep, placeNames(t), objectNames(t)

	p := a.progress()
	report, err := engine.Find(a.ctx, t, opts, p.find)
	p.done()
	if report.Finding == nil {
		report.Notes = append(report.Notes, ignoredNotes(t)...)
	}
	if c.Runs == 1 && len(c.Strategy) > 0 {
		report.Notes = append(report.Notes, "--strategy has no effect with --runs 1: the first execution is one without preemptions")
	}
	if err != nil && report.Finding == nil && report.Outcome != engine.Interrupted {
		return err
	}
	if perr := c.print(a, report); perr != nil {
		return perr
	}
	switch {
	case report.Finding != nil:
		if err != nil && a.ctx.Err() == nil && report.Finding.Confirmed {
			fmt.Fprintf(a.stderr, "heddle: %s\n", sentence(err))
		}
		return errFound
	case report.Executions == 0 && report.Outcome == engine.Interrupted:
		return errors.New("interrupted before an execution had ended: nothing is known about the program")
	case report.Executions == 0:
		return fmt.Errorf("no execution ended in %.1f s: nothing is known about the program; give it longer with --time, or less to do", report.Seconds)
	}
	return nil
}

// placeNames names places of the program by function and line; empty for one that is not known.
func placeNames(t target.Target) func(trace.Site, bool) string {
	var modules []trace.Module
	var table *symbol.Table
	return func(s trace.Site, exact bool) string {
		if now := t.Modules(); table == nil || len(now) > len(modules) { // more have been loaded
			modules, table = now, symbol.New(now, symbol.Options{})
		}
		lookup := table.Call
		if exact {
			lookup = table.Exact
		}
		// Inlined into the program's code may be some of a library's header.
		best := symbol.Frame{}
		for i, f := range lookup(s) {
			if i == 0 || f.Known() && (!best.Known() || best.System() && !f.System()) {
				best = f
			}
		}
		if best == (symbol.Frame{}) {
			return ""
		}
		return best.String()
	}
}

// overtakings counts the waits, sleeps and timers of a trace that ended before their time.
func overtakings(tr *trace.Trace) int {
	if tr == nil {
		return 0
	}
	return tr.Overtakings()
}

// earlySentence says what a finding depends on that has n overtakings.
func earlySentence(n int) string {
	times := "once"
	if n > 1 {
		times = thousands(n) + " times"
	}
	return fmt.Sprintf("A time-out, sleep or timer ended while another thread could run (%s), as on a machine that delays that thread.", times)
}

// quoted is a word as a shell must be given it.
func quoted(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-+=:,@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func findResult(r *engine.Report) findJSON {
	out := findJSON{
		Outcome: "clean", Ended: string(r.Ended), Executions: r.Executions, Seconds: r.Seconds, Behaviours: r.Behaviours, Newest: r.Newest,
		Points: r.Points, Unreproduced: r.NotReproduced, Notes: r.Notes, Races: racesSeen(r), RacesIncomplete: r.RacesIncomplete,
	}
	switch {
	case r.Finding != nil:
		out.Outcome = "found"
	case r.Executions == 0:
		out.Outcome = "unfinished"
	case r.Outcome == engine.Interrupted:
		out.Outcome = "interrupted"
	}
	if u := r.Unseen; u != nil {
		out.Unseen = &unseenJSON{u.Estimate, u.Below}
	}
	if f := r.Finding; f != nil {
		out.Finding = &findingJSON{Confirmed: f.Confirmed, Kind: f.Kind, Message: f.Message, Where: f.Where, Strategy: f.Strategy, Execution: f.Execution}
		if f.Race != nil {
			for _, side := range []engine.Access{f.Race.First, f.Race.Second} {
				out.Finding.Race = append(out.Finding.Race, accessJSON{side.Op, side.Where})
			}
		}
		out.Trace = f.Trace
		out.Finding.EarlyTimeouts = overtakings(f.Recorded)
	}
	if s := r.Simplified; s != nil {
		out.Finding.EarlyTimeouts = overtakings(s.Recorded)
		out.Simplified = &simplifedJSON{s.Trace, s.Events, s.Threads, s.Switches, s.Preemptions, s.Executions, s.Seconds, s.Complete, s.Confirmed}
	}
	return out
}

// usageError is a command line that parsed but makes no sense.
type usageError struct{ error }

func usage(err error) error { return usageError{err} }

var errNoFailure = errors.New("the trace shows no failure")
