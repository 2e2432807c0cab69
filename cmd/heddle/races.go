package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/suppress"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wholefile"
)

type racesCommand struct {
	programFlags
	seedFlag
	Time time.Duration `default:"20s" help:"Take at most this long in all, three fifths of it to explore; 0 for no limit."`
	Runs int           `placeholder:"N" help:"Explore at most N executions; 0 for no limit."`
	earlyFlag
	cutFlag
	expectFlag
	outputFlags
	spuriousFlag
	syncOnlyFlag
	suppressFlag
	SARIF string `name:"sarif" placeholder:"FILE" predictor:"file" help:"Write the races and failures to FILE in SARIF, too."`
	annotationsFlag
	Full      bool `help:"Show all frames of each stack."`
	AllPlaces bool `help:"Show each pair of places that raced, not only one of those with one cause."`

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *racesCommand) Help() string {
	return `Looks for data races: runs the program under different schedules, watches the accesses to
memory, and lists every pair of instructions that raced, with what is known about it: harmful
(a failing execution does not fail when the accesses are turned), no failure seen (with the
number of executions of either order), or unconfirmed. Failures that it meets are listed and
written to traces. Ends with 1 if a race was confirmed or an execution failed, 0 if neither, and 3 if nothing is known.`
}

func (c *racesCommand) Run(a *app) error {
	if c.Runs < 0 || c.Time < 0 {
		return usage.Errorf("--runs and --time cannot be negative")
	}
	if err := cmp.Or(c.checkExit(), c.checkCut()); err != nil {
		return err
	}
	known, err := suppress.Read(c.Suppressions)
	if err != nil {
		return err
	}
	program, err := c.judgedProgram(c.Program.words(), c.outputFlags)
	if err != nil {
		return err
	}
	t, err := a.launcher().Start(a.ctx, program, c.how())
	if err != nil {
		return err
	}
	defer t.Close()
	if !t.Header().Instrumented && !c.SyncOnly {
		return errors.New(noHooks + ": compile it with heddle cc or heddle c++, or give --sync-only to search it for other failures")
	}
	name := c.Program.name() + ".hdl"
	files, err := a.traceWriter("", name, tracefile.Derived("", "min"))
	if err != nil {
		return err
	}
	names := report.NewRunning(t.Modules)
	opts := engine.Options{
		Seed: c.Seed, Runs: c.Runs, Time: c.Time, ExpectStatus: c.ExpectExit, Spurious: c.Spurious, EarlyTimeouts: c.EarlyTimeouts, StopWhenSequential: true, SyncOnly: c.SyncOnly, Cut: c.Cut,
		Keep: files.Keep, Where: names.Place, Locate: names.Locate, Objects: names.Object, Untold: toolchain.Untold,
	}
	if len(c.Suppressions) > 0 {
		opts.Suppressed = result.Suppressed(known, names)
	}
	if c.Runs == 0 && c.Time > 0 {
		opts.Stale = staleRaces
	}
	opts.Simplify = engine.SimplifyOptions{Time: c.Time / 8, NoExtra: true, Memory: a.memory()}
	p := a.progress().of(t)
	found, r, err := engine.FindRaces(a.ctx, t, opts, p.find)
	p.done()
	if err != nil {
		return err
	}
	r.Notes = append(r.Notes, launch.ExperimentNotes(t)...)
	out := result.RacesOf(found, r, names, known)
	out.Seed = c.Seed
	if err := c.print(a, &out); err != nil {
		return err
	}
	switch {
	case out.Outcome == result.Found:
		return errFound
	case r.Executions == 0, r.Unfinished != nil:
		return unfinishedError(r)
	case out.Outcome == result.Interrupted:
		return errors.New("interrupted")
	case out.Outcome == result.Ignored:
		return errors.New("every execution ended in a suppressed finding: nothing else is known about the program")
	case r.Outcome == engine.OnlyCut && len(out.Races) == 0:
		return errOnlyCut
	case out.Outcome == result.Unfinished:
		return errors.New("no race could be confirmed, so this is neither a finding nor a clean result")
	}
	return nil
}

// staleRaces is how many executions without a new behaviour end a search for races.
const staleRaces = 20_000

func (c *racesCommand) print(a *app, r *result.Races) error {
	if c.SARIF != "" {
		root, err := os.Getwd()
		if err != nil {
			root = ""
		}
		var b bytes.Buffer
		if err := r.SARIF(&b, currentVersion().Version, root); err != nil {
			return err
		}
		if err := wholefile.WriteBytes(c.SARIF, 0o666, b.Bytes()); err != nil {
			return fmt.Errorf("cannot write the SARIF log: %w", err)
		}
	}
	if err := r.Annotate(c.annotations(a)); err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(r)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "heddle: note: %s\n", n)
	}
	p := a.printer(drawFlags{Full: c.Full}, statsFlag{})
	p.AllPlaces = c.AllPlaces
	p.Races(r)
	return nil
}
