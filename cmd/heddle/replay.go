package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/heddle-dev/heddle/internal/debugger"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

type replayCommand struct {
	Times *int `placeholder:"N" help:"Number of times to replay (otherwise once, and a control record 10 times)."`
	timeFlag
	drawFlags
	Quiet      bool         `short:"q" help:"Say only how it ended."`
	Changed    bool         `help:"The program has been changed since: follow the schedule as far as it goes, and its neighbours."`
	Dlv        bool         `help:"Run the execution of a Go program in the debugger dlv, up to the failure."`
	Gdb        debuggerFlag `name:"gdb" help:"Run the execution of a C or C++ program in gdb, with real threads, up to the failure; --gdb=PROGRAM for another gdb, or an lldb."`
	At         *int         `placeholder:"N" help:"With --gdb: run until event N has been done, as heddle show numbers them. With --dlv: stop before it."`
	Schedule   string       `placeholder:"STRING" help:"Follow this schedule, as heddle show --schedule prints it, in place of a trace's (- to read it from standard input). The program is named after --, or a trace names it."`
	RaceReport bool         `help:"Build the Go program with Go's own race detector, which needs a C compiler, follow the schedule there and print its reports of data races."`
	Values     bool         `help:"With --output: also record every access with the value read or written, as heddle compare and heddle sanitize need it."`
	Output     string       `short:"o" placeholder:"FILE" help:"Also write the repeated execution to FILE, with --changed the one that followed the schedule."`
	racesFlag
	expectFlag
	outputFlags
	programFlags

	Trace string  `arg:"" predictor:"trace" help:"The trace, or a control record; with --schedule the program, or a trace of it."`
	Args  program `arg:"" optional:"" passthrough:"partial" help:"More traces; with --schedule, arguments of the program."`

	listed string // the trace, if it is one of several
}

func (c *replayCommand) Help() string {
	return `Runs the program of the trace again under the recorded schedule and compares every
event. Ends with 1 if the failure came again, 0 if the trace shows none, and 3 with the
first event that differed if the execution was another one.

With --changed, follows the schedule in a program that was built anew, as far as it goes. If that does not fail, it
also makes executions near it, with another order of two dependent events or another place of a context switch, and
keeps the trace of the first that fails.

Several traces are replayed one after the other, as in heddle replay _heddle/*/*.hdl, and a line sums up the results. Executions that do not fail, which heddle explain writes beside traces, are left out. Ends with 1 if some failure
came again, and otherwise with 3 if some trace could not be replayed.

Given a control record, PROGRAM.control, which heddle atomicity --backend=live writes, suspends the threads of the program
again as the record says, and prints how many of the executions failed. They are not exact. Ends with 1 if one
failed, and with 0 otherwise.

heddle follows a schedule from a bug report without a trace, with the same
build of the program and the same arguments and input:

  heddle replay --schedule hds1.p5.KLUv_… -- ./prog arguments

Ends with 1 if it leads to a failure, 0 if it does not, and 3 with the first step that the program does
not follow.

With --values --output, keeps the execution with every value: heddle compare takes two such traces, of a trace, a schedule or a
changed program.`
}

type replayJSON struct {
	Trace   string `json:"file,omitempty"` // the trace, where several are replayed
	Outcome string `json:"outcome"`        // found, clean, unfinished
	Same    bool   `json:"same"`
	Times   int    `json:"times"`
	// Interrupted: Times is how many there were by then.
	Interrupted bool            `json:"interrupted,omitempty"`
	Events      int             `json:"events"`
	Finding     *result.Finding `json:"finding,omitempty"`
	// Varies describes text that differed in a replay whose events are all as recorded.
	Varies string `json:"varies,omitempty"`
	// Neighbours are executions near the followed one, with --changed, if the trace shows a failure and that did not
	// come again. Outcome and Finding are theirs if one of them failed.
	Neighbours *neighboursJSON `json:"neighbours,omitempty"`
	// Differs is set where the replay was not the recorded execution.
	Differs *differsJSON `json:"differs,omitempty"`
}

// neighboursJSON are executions with another order of two dependent events, or another place of a context switch.
type neighboursJSON struct {
	Executions int    `json:"executions"`
	Different  int    `json:"different"`       // of them, how many are not equivalent to one another or to the followed one
	Complete   bool   `json:"complete"`        // no neighbour was left out
	Trace      string `json:"trace,omitempty"` // of the one that failed
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

// times is --times, or what it is otherwise.
func (c *replayCommand) times(otherwise int) int {
	if c.Times == nil {
		return otherwise
	}
	return *c.Times
}

func (c *replayCommand) Run(a *app) error {
	switch {
	case c.Times != nil && *c.Times < 1:
		return usage.Errorf("--times must be at least 1")
	case (c.Dlv || c.Gdb != "") && (c.Changed || a.JSON):
		return usage.Errorf("--dlv and --gdb replay the exact schedule interactively: they cannot be combined with --changed or --json")
	case c.Values && c.Output == "":
		return usage.Errorf("--values goes with --output, which names the file for the execution")
	case c.Output != "" && (c.Dlv || c.Gdb != "" || c.RaceReport):
		return usage.Errorf("--output keeps an execution on heddle's scheduler: it cannot be combined with --dlv, --gdb or --race-report")
	case c.At != nil && !c.Dlv && c.Gdb == "":
		return usage.Errorf("--at goes with --gdb or --dlv")
	case c.Schedule == "" && !c.severalTraces() && len(c.Args) > 0:
		return usage.Errorf("unexpected argument %s: a trace holds its program's arguments; others need --schedule", c.Args[0])
	case c.severalTraces() && (c.Output != "" || c.Dlv || c.Gdb != "" || c.RaceReport):
		return usage.Errorf("--output, --dlv, --gdb and --race-report take one trace: %d are named", 1+len(c.Args))
	case c.Schedule == "" && (c.Stdin != "" || len(c.Omit) > 0 || len(c.TryLock) > 0 || c.given() || c.ExpectExit != nil || c.Expect != "" || c.Oracle != ""):
		return usage.Errorf("--stdin, --omit, --try-lock, --races, --expect-exit, --expect and --oracle go with --schedule only: a trace holds the input, the omitted calls, the tried locks and what counts as a failure; heddle explain --try-lock tries a lock on a trace")
	case c.Schedule != "" && c.Changed:
		return usage.Errorf("--changed follows the schedule of a trace, which says what is done where: it cannot be combined with --schedule")
	case c.Schedule == "-" && c.Stdin == "-":
		return usage.Errorf("--schedule and --stdin cannot both be read from standard input")
	case c.RaceReport && (c.Changed || c.Dlv || c.Gdb != "" || c.times(1) > 1):
		return usage.Errorf("--race-report follows the schedule exactly, and once: it cannot be combined with --changed, --dlv, --gdb or --times")
	}
	if c.Output != "" && c.Schedule == "" {
		if err := tracefile.NotInput(c.Output, c.Trace); err != nil {
			return err
		}
	}
	if c.severalTraces() {
		return c.replayEach(a)
	}
	return c.replay(a, a.launcher())
}

// replay replays one execution.
func (c *replayCommand) replay(a *app, l *launch.Launcher) error {
	if c.Schedule == "" && filepath.Ext(c.Trace) == launch.ControlExt {
		return c.control(a, l)
	}
	t, tr, err := c.start(a, l)
	if err != nil {
		return err
	}
	defer t.Close()
	if c.At != nil && (*c.At < 0 || *c.At >= len(tr.Events)) {
		return usage.Errorf("--at %d: the trace has events 0 to %d", *c.At, len(tr.Events)-1)
	}
	switch {
	case c.Dlv:
		return debugger.Dlv(a.ctx, t, tr, c.At)
	case c.Gdb != "":
		output, err := debugger.Gdb(a.ctx, t, tr, string(c.Gdb), c.At)
		if len(output) > 0 {
			fmt.Fprintf(a.stdout, "the program wrote:\n%s", output)
		}
		return err
	case c.RaceReport:
		return c.raceReport(a, l, t, tr)
	case c.Changed:
		return c.follow(a, t, tr)
	}
	p := a.progress()
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	var again *trace.Trace
	done, varies := 0, ""
	for done < c.times(1) {
		now, rerr := engine.Replay(ctx, t, tr)
		if err = rerr; err != nil {
			break
		}
		again = now
		varies = cmp.Or(varies, engine.Varies(tr, now))
		done++
		p.line(fmt.Sprintf("replay: %d of %d identical", done, c.times(1)))
	}
	p.done()
	if err == nil {
		err = c.keep(ctx, a, t, again)
	}
	// Interrupted, or at the time limit, it says what it has so far.
	interrupted := done > 0 && err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())
	if interrupted {
		err = nil
	}
	err = c.overtime(ctx, a, t, err)
	failed := tr.Ending.Kind.Failed()
	if a.JSON {
		out := replayJSON{Trace: c.listed, Outcome: "clean", Same: err == nil, Times: c.times(1), Events: len(tr.Events), Varies: varies}
		if interrupted {
			out.Times, out.Interrupted = done, true
		}
		if failed {
			out.Outcome = "found"
			out.Finding = result.OfTrace(tr, t)
			out.Finding.Confirmed = err == nil
		}
		if tr.Ending.Kind == trace.Unfinished {
			out.Outcome = result.Unfinished
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
		if varies != "" {
			a.note(varies)
		}
		if !c.Quiet {
			if e := tr.Explained(); e != nil && c.Schedule == "" { // the execution is the same
				again.SetExplanation(*e)
			}
			if err := a.printer(c.drawFlags, statsFlag{}).Explained(again); err != nil {
				return err
			}
		}
		times := ""
		switch {
		case interrupted && engine.OutOfTime(ctx):
			times = fmt.Sprintf(" %s of %s times within --time %v", wording.Thousands(done), wording.Thousands(c.times(1)), c.Time)
		case interrupted:
			times = fmt.Sprintf(" %s of %s times, then interrupted", wording.Thousands(done), wording.Thousands(c.times(1)))
		case c.times(1) > 1:
			times = fmt.Sprintf(" %s times", wording.Thousands(c.times(1)))
		}
		if c.Schedule == "" {
			fmt.Fprintf(a.stdout, "replayed%s: %s events, identical\n", times, wording.Thousands(len(tr.Events)))
		} else {
			fmt.Fprintf(a.stdout, "followed the schedule%s: %s events, %s\n", times, wording.Thousands(len(tr.Events)), endedWith(tr, t))
		}
	}
	switch {
	case failed:
		return errFound
	case tr.Ending.Kind == trace.Unfinished:
		return errors.New("the recorded execution did not end: whether it fails is not known")
	}
	return nil
}

// keep writes an execution of the program to --output, if that is given.
func (c *replayCommand) keep(ctx context.Context, a *app, t target.Target, tr *trace.Trace) error {
	if c.Output == "" {
		return nil
	}
	files, err := a.traceWriter(c.Output, "")
	if err == nil && c.Values {
		tr, err = engine.WithValues(ctx, t, tr)
	}
	if err == nil {
		_, err = files.Keep(tr, "")
	}
	if err == nil && !a.JSON {
		fmt.Fprintf(a.stdout, "trace: %s\n", c.Output)
	}
	return err
}

// start makes the program ready, and returns the execution that is to be repeated.
func (c *replayCommand) start(a *app, l *launch.Launcher) (t target.Target, tr *trace.Trace, err error) {
	if c.Schedule == "" {
		if tr, err = c.readTrace(a, c.Trace); err != nil {
			return nil, nil, err
		}
		t, err = l.StartRecorded(a.ctx, tr, c.how())
		return t, tr, err
	}
	text, err := c.schedule()
	if err != nil {
		return nil, nil, err
	}
	if err := c.checkExit(); err != nil {
		return nil, nil, err
	}
	races, err := c.races()
	if err != nil {
		return nil, nil, err
	}
	if t, err = c.startProgram(a, l); err != nil {
		return nil, nil, err
	}
	names := report.NewRunning(t.Modules)
	tr, err = engine.ReplaySchedule(a.ctx, t, text, engine.ScheduleOptions{ExpectStatus: c.status(), RacesFail: races != engine.RacesIgnored, Untold: toolchain.Untold, Where: names.Place, Locate: names.Locate, Objects: names.Object})
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return t, tr, nil
}

// schedule is the schedule string, which can be read.
func (c *replayCommand) schedule() (string, error) {
	text := c.Schedule
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(os.Stdin, schedule.MaxString+1))
		if err != nil {
			return "", fmt.Errorf("cannot read the schedule: %w", err)
		}
		text = string(b)
	}
	_, _, _, err := schedule.Parse(text)
	return text, usage.Wrap(err)
}

// startProgram starts the program of a schedule: it is named, or a trace names it.
func (c *replayCommand) startProgram(a *app, l *launch.Launcher) (target.Target, error) {
	if len(c.Args) == 0 && tracefile.Is(c.Trace) {
		if c.Stdin != "" || len(c.Omit) > 0 || len(c.TryLock) > 0 || c.Expect != "" || c.Oracle != "" {
			return nil, usage.Errorf("--stdin, --omit, --try-lock, --expect and --oracle go with a program: the trace %s already says all of them", c.Trace)
		}
		tr, err := c.readTrace(a, c.Trace)
		if err != nil {
			return nil, err
		}
		return l.StartRecorded(a.ctx, tr, c.how())
	}
	p, err := c.judgedProgram(append([]string{c.Trace}, c.Args...), c.outputFlags)
	if err != nil {
		return nil, err
	}
	return l.Start(a.ctx, p, c.how())
}

// follow is a replay with another build of the program.
func (c *replayCommand) follow(a *app, t target.Target, tr *trace.Trace) error {
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	met, changed, err := launch.Follow(ctx, t, tr)
	if err == nil {
		err = c.keep(ctx, a, t, met)
	}
	if err != nil {
		return c.overtime(ctx, a, t, err)
	}
	failing := met
	out := replayJSON{Trace: c.listed, Outcome: result.Clean, Same: !changed, Times: 1, Events: len(met.Events)}
	if tr.Ending.Kind.Failed() && !met.Ending.Kind.Failed() {
		near, err := engine.RunNeighbours(ctx, t, tr, met, neighbourRuns, report.NewRunning(t.Modules).Locate)
		if err != nil && engine.OutOfTime(ctx) && near != nil && near.Failing == nil {
			near.Complete, err = false, nil
		}
		if err != nil {
			return err
		}
		out.Neighbours = &neighboursJSON{Executions: near.Executions, Different: near.Different, Complete: near.Complete}
		if near.Failing != nil {
			failing = near.Failing
			files, err := a.traceWriter("", tracefile.Derived(c.Trace, "near"))
			if err != nil {
				return err
			}
			if out.Neighbours.Trace, err = files.Keep(failing, ""); err != nil {
				return err
			}
		}
	}
	failed := failing.Ending.Kind.Failed()
	if failed {
		out.Outcome = result.Found
		out.Finding = result.OfTrace(failing, t)
	}
	if a.JSON {
		err = a.printJSON(out)
	} else {
		err = c.printFollowed(a, t, met, failing, &out)
	}
	switch {
	case err != nil:
		return err
	case failed:
		return errFound
	case met.Ending.Kind == trace.Unfinished:
		return fmt.Errorf("the followed execution did not end (%s), so whether the failure is gone is not decided", met.Ending.Message)
	}
	return nil
}

func (c *replayCommand) printFollowed(a *app, t target.Target, met, failing *trace.Trace, out *replayJSON) error {
	if !c.Quiet {
		if err := a.printer(c.drawFlags, statsFlag{}).Trace(met); err != nil {
			return err
		}
	}
	how := "as it was recorded"
	if !out.Same {
		how = "as far as it goes"
	}
	fmt.Fprintf(a.stdout, "followed the schedule %s: %s events, %s\n", how, wording.Thousands(out.Events), endedWith(met, t))
	switch n := out.Neighbours; {
	case n == nil:
	case n.Trace != "":
		fmt.Fprintf(a.stdout, "but a neighbour of it fails: %s\ntrace: %s\nreplay: heddle replay %s\n", endedWith(failing, t), n.Trace, wording.Quoted(n.Trace))
	case met.Ending.Kind == trace.Unfinished:
	default:
		fmt.Fprintf(a.stdout, "the failure is gone under the same order and %s\n", wording.Count(n.Different, "neighbour"))
	}
	return nil
}

// endedWith is how an execution of the target's program ended, in a line.
func endedWith(tr *trace.Trace, t target.Target) string {
	if tr.Ending.Kind == trace.Unfinished {
		return "not ended: " + tr.Ending.Message
	}
	if !tr.Ending.Kind.Failed() {
		return "no failure"
	}
	return result.OfTrace(tr, t).Headline()
}

type raceReportJSON struct {
	Outcome string   `json:"outcome"` // found, clean
	Choices int      `json:"choices"` // of the schedule, all followed
	Reports []string `json:"reports"` // as Go's race detector words them
}

// raceReport is a replay in a build with Go's own race detector.
func (c *replayCommand) raceReport(a *app, l *launch.Launcher, t target.Target, tr *trace.Trace) error {
	r, err := l.RaceReports(a.ctx, t, tr, c.how(), func() func() {
		p := a.progress()
		p.line("build: with Go's race detector")
		return p.done
	})
	if err != nil {
		return err
	}
	found := len(r.Reports) > 0
	if a.JSON {
		out := raceReportJSON{Outcome: result.Clean, Choices: r.Choices, Reports: append([]string{}, r.Reports...)}
		if found {
			out.Outcome = result.Found
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, text := range r.Reports {
			fmt.Fprintf(a.stdout, "%s\n", text)
		}
		fmt.Fprintf(a.stdout, "followed the schedule with Go's race detector: %s decisions, %s\n", wording.Thousands(r.Choices), wording.Count(len(r.Reports), "data race"))
	}
	if found {
		return errFound
	}
	return nil
}

type controlJSON struct {
	Outcome    string  `json:"outcome"` // found, clean
	Executions int     `json:"executions"`
	Failures   int     `json:"failures"`
	Seconds    float64 `json:"seconds"`
	First      float64 `json:"first"`             // seconds to the first failure
	Failure    string  `json:"failure,omitempty"` // the first
}

// control repeats what a control record says, on the backend live.
func (c *replayCommand) control(a *app, l *launch.Launcher) error {
	if c.Changed || c.Dlv || c.Gdb != "" || c.RaceReport || c.Output != "" {
		return usage.Errorf("%s is a control record: its executions are not exact, so --changed, --dlv, --gdb, --output and --race-report need a trace", c.Trace)
	}
	record, err := launch.ReadControl(c.Trace)
	if err != nil {
		return err
	}
	program, err := l.StartControl(a.ctx, record)
	if err != nil {
		return err
	}
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	times := c.times(controlTimes)
	r, err := engine.Reproduce(ctx, program, &record.Control, record.Expect, times)
	if err != nil && r.Executions == 0 {
		return err
	}
	out := controlJSON{Outcome: result.Clean, Executions: r.Executions, Failures: r.Failures, Seconds: r.Seconds, First: r.First, Failure: r.Failure}
	if r.Failures > 0 {
		out.Outcome = result.Found
	}
	if a.JSON {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.stdout, "%s of %s: p at %s, r at %s, c at %s\n", record.Pattern, cmp.Or(record.Object, "memory"), record.Places[0], record.Places[1], record.Places[2])
		fmt.Fprintf(a.stdout, "%s of %s failed (%.1f s)", wording.Thousands(r.Failures), wording.Count(r.Executions, "execution"), r.Seconds)
		if r.Failures > 0 {
			fmt.Fprintf(a.stdout, ", the first after %.2f s: %s", r.First, r.Failure)
		}
		fmt.Fprintln(a.stdout)
	}
	switch {
	case r.Failures > 0:
		return errFound
	case err != nil:
		return err
	}
	return nil
}

// controlTimes is how often a control record is repeated unless --times says otherwise.
const controlTimes = 10
