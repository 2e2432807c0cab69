package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/campaign"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

type findCommand struct {
	programFlags
	withoutFlags
	Time            time.Duration `default:"60s" help:"Explore at most this long; 0 for until Ctrl-C."`
	Runs            int           `help:"Explore at most this many executions."`
	Seed            uint64        `default:"1" help:"Choose another sequence of schedules. The same seed and build give the same first finding."`
	Strategy        []string      `placeholder:"NAME" help:"Use only these strategies: random, stay, pct, pos. Otherwise they take turns."`
	Output          string        `short:"o" placeholder:"FILE" help:"Write the trace to FILE (otherwise PROGRAM.hdl), and the simplified one to FILE with .min before the suffix."`
	NoSimplify      bool          `help:"Stop at the trace that was found."`
	ExpectExit      *int32        `placeholder:"STATUS" help:"Call every other exit status a failure (otherwise: every status other than the first execution's)."`
	EarlyTimeouts   bool          `help:"Let timed waits, sleeps and timers run out at any time: any delay is taken to be possible."`
	NoEarlyTimeouts bool          `help:"Let timed waits run out only when nobody can run, or when virtual time has passed their deadline; otherwise any delay is taken to be possible."`
	RacesFail       bool          `help:"Call a data race a failure, too, whatever comes of it."`
	Spurious        bool          `help:"Let waits on condition variables and futexes end without a waker, as POSIX allows."`
	MaxSteps        int           `placeholder:"N" help:"Call an execution of more than N scheduling points a hang."`
	Full            bool          `help:"Show every event, and fold nothing."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *findCommand) Help() string {
	return `Runs the program again and again under different schedules until one breaks it: a
failed assertion, a fatal signal, a deadlock, a hang, misuse of a lock or of memory, an
uncaught exception, another exit status; with --races-fail a data race as well. Writes the trace, simplifies it, shows it, and
prints the command that replays it. Ends with 1 if a bug was found and 0 if none was.`
}

// findJSON is what --json prints; docs/json.md.
type findJSON struct {
	Outcome    string         `json:"outcome"`
	Executions int            `json:"executions"`
	Seconds    float64        `json:"seconds"`
	Behaviours int            `json:"behaviours"`
	Points     int            `json:"points"`
	Notes      []string       `json:"notes,omitempty"`
	Finding    *findingJSON   `json:"finding,omitempty"`
	Trace      string         `json:"trace,omitempty"`
	Simplified *simplifedJSON `json:"simplified,omitempty"`
}

type findingJSON struct {
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Where     string `json:"where"`
	Strategy  string `json:"strategy"`
	Execution int    `json:"execution"`
	// Race has both sides of a data race, in the order in which they happened.
	Race []accessJSON `json:"race,omitempty"`
}

type accessJSON struct {
	Op    string `json:"op"`
	Where string `json:"where"`
}

// headline is a failure in one line. Some messages begin with their kind.
func headline(kind, message string) string {
	if strings.HasPrefix(message, kind+":") {
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
}

func (c *findCommand) Run(a *app) error {
	opts := campaign.Options{
		Seed: c.Seed, Runs: c.Runs, Time: c.Time, ExpectStatus: c.ExpectExit, MaxSteps: c.MaxSteps, NoSimplify: c.NoSimplify,
		NoEarlyTimeouts: c.NoEarlyTimeouts, Spurious: c.Spurious, RacesFail: c.RacesFail,
	}
	if c.Runs < 0 || c.Time < 0 || c.MaxSteps < 0 {
		return usage(errors.New("--runs, --time and --max-steps cannot be negative"))
	}
	for _, name := range c.Strategy {
		s, err := strategy.Parse(name)
		if err != nil {
			return usage(err)
		}
		opts.Strategies = append(opts.Strategies, s)
	}
	if c.EarlyTimeouts && c.NoEarlyTimeouts {
		return usage(errors.New("--early-timeouts and --no-early-timeouts contradict each other"))
	}
	flags := c.programFlags
	flags.early = c.EarlyTimeouts
	t, err := a.start(c.Program, flags, c.Without)
	if err != nil {
		return err
	}
	defer t.Close()
	opts.TraceFile = c.Output
	if opts.TraceFile == "" {
		opts.TraceFile = c.Program.name() + ".hdl"
	}
	opts.SimplifiedFile = minName(opts.TraceFile)
	if err := writable(opts.TraceFile); err != nil {
		return err
	}
	opts.Where = placeNames(t)

	p := a.progress()
	report, err := campaign.Find(a.ctx, t, opts, p.find)
	p.done()
	if report.Finding == nil {
		report.Notes = append(report.Notes, ignoredNotes(t)...)
	}
	if err != nil && report.Finding == nil && report.Outcome != campaign.Interrupted {
		return err
	}
	if perr := c.print(a, report); perr != nil {
		return perr
	}
	switch {
	case err != nil:
		return err
	case report.Finding != nil:
		return errFound
	}
	return nil
}

// minName is the name of the simplified trace beside the one that was found.
func minName(name string) string {
	base, ok := strings.CutSuffix(name, ".hdl")
	if !ok {
		return name + ".min"
	}
	return base + ".min.hdl"
}

// placeNames names places of the program by function and line.
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
		if frames := lookup(s); len(frames) > 0 {
			return frames[0].String()
		}
		return ""
	}
}

func (c *findCommand) print(a *app, r *campaign.Report) error {
	if a.JSON {
		return a.printJSON(findResult(r))
	}
	w := a.stdout
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "heddle: note: %s\n", n)
	}
	if r.Finding == nil {
		how := "no failure"
		if r.Outcome == campaign.Interrupted {
			how = "interrupted; no failure so far"
		}
		fmt.Fprintf(w, "%s in %s executions (%.1f s, %s distinct behaviours, %d memory scheduling points)\n",
			how, thousands(r.Executions), r.Seconds, thousands(r.Behaviours), r.Points)
		return nil
	}
	f := r.Finding
	fmt.Fprintln(w, headline(f.Kind, f.Message))
	if f.Where != "" {
		fmt.Fprintf(w, "  at %s\n", f.Where)
	}
	fmt.Fprintf(w, "  found in execution %s by %s; %.2f s in all\n\n", thousands(f.Execution), f.Strategy, r.Seconds)
	shown := f.Recorded
	replay := f.Trace
	if s := r.Simplified; s != nil {
		shown = s.Recorded
		replay = s.Trace
		if err := a.showSummary(s.Details); err != nil {
			return err
		}
	}
	if shown != nil {
		if err := a.showTrace(shown, c.Full); err != nil {
			return err
		}
	}
	if early := earlyTimeouts(shown); early > 0 {
		fmt.Fprintf(w, "\nA timed wait ran out, or a timer went off, before its time here (%d in all): any delay is taken to be possible.\nIf it is not, use --no-early-timeouts.\n", early)
	}
	if f.Trace == "" {
		return nil // it could not be written, which is said after this
	}
	fmt.Fprintf(w, "\nas found:   %s\n", f.Trace)
	if r.Simplified != nil && r.Simplified.Trace != "" {
		fmt.Fprintf(w, "simplified: %s\n", r.Simplified.Trace)
	}
	fmt.Fprintf(w, "replay:     heddle replay %s\n", quoted(replay))
	return nil
}

// earlyTimeouts counts the waits that timed out, and the timers that fired, while somebody
// else could run.
func earlyTimeouts(tr *trace.Trace) (n int) {
	if tr == nil {
		return 0
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Flags&trace.FlagTimeout != 0 && !e.Enabled.Has(e.Thread) {
			n++
		}
	}
	return n
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

// writable finds out before the search whether its result can be written.
func writable(name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".heddle-*")
	if err != nil {
		return fmt.Errorf("cannot write %s (%w): choose another place with -o", name, errors.Unwrap(err))
	}
	f.Close()
	return os.Remove(f.Name())
}

func findResult(r *campaign.Report) findJSON {
	out := findJSON{
		Outcome: "clean", Executions: r.Executions, Seconds: r.Seconds, Behaviours: r.Behaviours, Points: r.Points, Notes: r.Notes,
	}
	if r.Outcome == campaign.Interrupted {
		out.Outcome = "interrupted"
	}
	if f := r.Finding; f != nil {
		out.Outcome = "found"
		out.Finding = &findingJSON{Kind: f.Kind, Message: f.Message, Where: f.Where, Strategy: f.Strategy, Execution: f.Execution}
		if f.Race != nil {
			for _, side := range []campaign.Access{f.Race.First, f.Race.Second} {
				out.Finding.Race = append(out.Finding.Race, accessJSON{side.Op, side.Where})
			}
		}
		out.Trace = f.Trace
	}
	if s := r.Simplified; s != nil {
		out.Simplified = &simplifedJSON{s.Trace, s.Events, s.Threads, s.Switches, s.Preemptions, s.Executions, s.Seconds}
	}
	return out
}

// usageError is a command line that parsed but makes no sense.
type usageError struct{ error }

func usage(err error) error { return usageError{err} }

var errNoFailure = errors.New("the trace shows no failure")
