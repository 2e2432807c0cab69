package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/corpus"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/suppress"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
)

type findCommand struct {
	programFlags
	Time         time.Duration  `default:"60s" help:"Take at most this long in all, simplification included; 0 for no limit."`
	SimplifyTime *time.Duration `placeholder:"DURATION" help:"Simplify at most this long (otherwise half of --time, or 30 s without it). When nothing helps any more, a third of it is for showing that no schedule with fewer context switches fails, or finding one; 0 skips that, and leaves no bound but --time."`
	Runs         int            `placeholder:"N" help:"Explore at most N executions; 0 for no limit."`
	Stale        int            `default:"${stale}" help:"End early when this many executions in a row, and half of all, have shown nothing new; 0 for never. Checked between rounds of executions, and never with --runs or --time 0."`
	Resume       bool           `help:"Continue the search that stopped at --time, --runs or Ctrl-C, if PROGRAM.search has one, and save it there when it stops again. Program and options must be the same but for --time, --runs and --jobs. Findings of the earlier part are reported again only if they are met again."`
	searchFlags
	Output        string `short:"o" placeholder:"FILE" help:"Write the trace to FILE, replacing a trace of that name (otherwise to the first free one of PROGRAM.hdl, PROGRAM.2.hdl, …), and the simplified one to the same name with .min before the suffix."`
	ExplainSearch bool   `help:"Print at the end what each strategy did: its executions, its part of the time, the new behaviours that it showed, its failures, and why it got more or less to do than others."`
	jobsFlag
	expectFlag
	outputFlags
	racesFlag
	suppressFlag
	spuriousFlag
	syncOnlyFlag
	corpusFlags
	ciFlags
	drawFlags
	statsFlag
	whyFlag

	Program program `arg:"" passthrough:"partial" help:"The program and its arguments, after --."`
}

func (c *findCommand) Help() string {
	return `Runs the program again and again under different schedules until one breaks it: a
failed assertion, a fatal signal, a deadlock, a hang, misuse of a lock or of memory, an
uncaught exception, an exit status other than 0. A data race does not end the search; it is
the finding if nothing worse is found. Writes the trace, simplifies it, shows it, and prints
the command that replays it. Ends with 1 if a bug was found, 0 if none was, and 3 if the
search was interrupted, if no execution ended, so nothing is known, or if nothing was found in a
program that was not compiled with heddle cc (see --sync-only). docs/terms.md explains the words
of its reports.`
}

// staleFind is the default of --stale; docs/exploration.md has the figures behind it.
const staleFind = "100000"

func (c *findCommand) options() (engine.Options, error) {
	if c.Runs < 0 || c.Time < 0 || c.SimplifyTime != nil && *c.SimplifyTime < 0 || c.MaxSteps < 0 || c.Stale < 0 {
		return engine.Options{}, usage.Errorf("--runs, --time, --simplify-time, --stale and --max-steps cannot be negative")
	}
	if c.Prune && c.Corpus == "" {
		return engine.Options{}, usage.Errorf("--prune removes findings of a corpus: it goes with --corpus")
	}
	if err := cmp.Or(c.checkExit(), c.corpusFlags.check()); err != nil {
		return engine.Options{}, err
	}
	processes, err := c.processes()
	if err != nil {
		return engine.Options{}, err
	}
	opts, err := c.searchFlags.options()
	if err != nil {
		return opts, err
	}
	opts.Runs, opts.Time, opts.ExpectStatus = c.Runs, c.Time, c.ExpectExit
	opts.SyncOnly = c.SyncOnly
	opts.Spurious, opts.Simplify, opts.Explain = c.Spurious, c.simplify(), c.ExplainSearch
	if opts.Races, err = c.races(); err != nil {
		return opts, err
	}
	if c.Resume && opts.Races == engine.RacesFail {
		return opts, usage.Errorf("--resume does not go with --races=fail: races of the earlier part would not be reported")
	}
	opts.Processes, opts.Simplify.Processes = processes, processes
	if (c.Spurious || c.Runs > 0 && !c.Resume || c.outputFlags.judges()) && !c.chosen() {
		// Sampling alone: spurious wake-ups are not enumerated, and neither are the orders
		// of output, so no search with them is complete, and who asks for a number of executions gets it,
		// unless it is but a part of a search.
		opts.Search = nil
	}
	if c.Runs == 0 && c.Time > 0 {
		opts.Stale = c.Stale
	}
	return opts, err
}

// shaping are the flags that a search must share with the one that it continues, besides those that the
// engine compares, as they are written.
func (c *findCommand) shaping() map[string]string {
	bound := func(n *int) string {
		if n == nil {
			return "none"
		}
		return strconv.Itoa(*n)
	}
	races := cmp.Or(c.Races, "report")
	return map[string]string{
		"--stdin": c.Stdin, "--watchdog": c.Watchdog.String(), "--isolation": c.Isolation, "--threads": strconv.FormatBool(c.Threads), "--omit": strings.Join(c.Omit, " "),
		"--try-lock": strings.Join(c.TryLock, " "), "--strategy": strings.Join(c.Strategy, ","), "--preemptions": bound(c.Preemptions), "--delays": bound(c.Delays), "--races": races,
	}
}

// simplify returns the bounds of the simplification.
func (c *findCommand) simplify() engine.SimplifyOptions {
	limit := 30 * time.Second
	switch {
	case c.SimplifyTime != nil:
		limit = *c.SimplifyTime
	case c.Time > 0:
		limit = c.Time / 2
	}
	return engine.SimplifyOptions{Time: limit, ExtraTime: limit / 3, NoExtra: limit == 0}
}

func (c *findCommand) Run(a *app) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	files, err := c.files(a, c.Program.name())
	if err != nil {
		return err
	}
	found, err := c.search(a, opts)
	var problem error
	if err != nil && !errors.Is(err, errFound) {
		problem = errors.New(sentence(err))
	}
	files.Find(c.Program.name(), wording.QuotedWords(c.Program.words()), found, problem)
	return a.withFiles(files, err)
}

// withFiles writes result files and returns the error with which the command ends, err if they could
// be written.
func (a *app) withFiles(files *result.Files, err error) error {
	werr := files.Write()
	switch {
	case werr == nil:
		return err
	case err != nil:
		a.say(sentence(werr))
		return err
	}
	return werr
}

// search searches and prints the result. The report is nil if the search could not begin or failed.
func (c *findCommand) search(a *app, opts engine.Options) (*engine.Report, error) {
	known, err := suppress.Read(c.Suppressions)
	if err != nil {
		return nil, err
	}
	program, err := c.judgedProgram(c.Program.words(), c.outputFlags)
	if err != nil {
		return nil, err
	}
	t, err := a.launcher().Start(a.ctx, program, c.how())
	if err != nil {
		return nil, err
	}
	defer t.Close()
	files, err := a.traceWriter(c.Output, c.Program.name()+".hdl", tracefile.Derived(c.Output, "min"))
	if err != nil {
		return nil, err
	}
	names := report.NewRunning(t.Modules)
	var saved *resumption
	if c.Resume {
		if saved, opts.Resume, err = resumeFrom(c.Program.name()+".search", c.Program.words(), c.shaping()); err != nil {
			return nil, err
		}
		opts.Save = saved.save
	}
	opts.Simplify.Memory = a.memory()
	opts.Keep, opts.Where, opts.Locate, opts.Objects = files.Keep, names.Place, names.Locate, names.Object
	if !c.NoExplain {
		opts.Why, opts.KeepPassing, opts.SaveCause = names, files.KeepPassing, saveCause
	}
	opts.Untold = toolchain.Untold
	if len(c.Suppressions) > 0 {
		opts.Suppressed = result.Suppressed(known, names)
	}

	p := a.progress().of(t)
	kept, found, err := corpus.Find(a.ctx, t, opts, corpus.Options{Dir: c.Corpus, Program: c.Program.name(), Prune: c.Prune}, p.find)
	p.done()
	if saved != nil {
		switch {
		case saved.saved:
			if f := found.Finding; f != nil {
				if err := saved.reported(f.Key); err != nil {
					return nil, err
				}
			}
			found.Notes = append(found.Notes, fmt.Sprintf("the search is saved in %s after %s: heddle find --resume continues it", saved.name, wording.Count(found.Executions, "execution")))
		case err == nil && found.Outcome != engine.Unfinished:
			saved.ended()
		}
	}
	if found.Finding == nil {
		found.Notes = append(found.Notes, launch.ExperimentNotes(t)...)
		if saved != nil && len(saved.earlier) > 0 {
			found.Notes = append(found.Notes, fmt.Sprintf("an earlier part of this search reported %s", strings.Join(saved.earlier, ", ")))
		}
	}
	if c.Runs == 1 && len(c.Strategy) > 0 {
		found.Notes = append(found.Notes, "--strategy has no effect with --runs 1: the first execution is one without preemptions")
	}
	if err != nil && found.Finding == nil && found.Outcome != engine.Interrupted {
		return nil, err
	}
	if perr := c.print(a, found, kept); perr != nil {
		return nil, perr
	}
	return found, a.ended(found, err)
}

// ended returns the error with which a command ends after a search, nil for a clean one; err is the
// search's.
func (a *app) ended(found *engine.Report, err error) error {
	switch {
	case found.Finding != nil:
		if err != nil && a.ctx.Err() == nil && found.Finding.Confirmed {
			fmt.Fprintf(a.stderr, "heddle: %s\n", sentence(err))
		}
		return errFound
	case found.Executions == 0, found.Unfinished != nil:
		return unfinishedError(found)
	case found.Outcome == engine.Interrupted:
		return errors.New("interrupted")
	case found.Outcome == engine.OnlyCut:
		return errOnlyCut
	case found.Outcome == engine.Unreproduced:
		return fmt.Errorf("%s failed, and none failed again when run again: the program depends on more than the schedule, so this is neither a finding nor a clean result", wording.Count(found.NotReproduced, "execution"))
	case found.Outcome == engine.Unconfirmed:
		return fmt.Errorf("data races were seen, but %s may order the accesses in ways that heddle does not know, so with --races=fail this is neither a finding nor a clean result", strings.Join(found.RacesUnconfirmed, ", "))
	case found.Outcome == engine.Unhooked:
		return errors.New(noHooks + ", and bugs that depend on those may be missed: compile it with heddle cc or heddle c++, or give --sync-only to search its synchronisation alone")
	case found.Outcome == engine.OnlyIgnored:
		return errors.New("every execution ended in an ignored finding: nothing else is known about the program")
	}
	return nil
}

var errOnlyCut = errors.New("no execution ran to its end, so this is not a clean result: --cut cut them all")

// unfinishedError is the error of a search without a failure of which no execution ended, or not every one.
func unfinishedError(r *engine.Report) error {
	u, interrupted := r.Unfinished, r.Outcome == engine.Interrupted
	switch {
	case u == nil && interrupted:
		return errors.New("interrupted before an execution had ended: nothing is known about the program")
	case u == nil:
		return fmt.Errorf("no execution ended in %.1f s: nothing is known about the program; raise --time, or give it less work", r.Seconds)
	case u.Executions == r.Executions && interrupted:
		return errors.New("interrupted before an execution had ended: nothing is known about the program but where its threads were")
	case interrupted:
		return errors.New("interrupted")
	case u.Executions == r.Executions:
		return fmt.Errorf("no execution ended in %.1f s: nothing is known about the program but where its threads were; %s", r.Seconds, u.Advice())
	}
	return fmt.Errorf("%s did not end, so this is not a clean result: %s", wording.Count(u.Executions, "execution"), u.Advice())
}

func (c *findCommand) print(a *app, r *engine.Report, kept *result.Kept) error {
	if kept != nil {
		r.Notes = append(kept.Notes, r.Notes...)
	}
	if a.JSON {
		out := result.Of(r)
		out.Seed, out.Corpus = c.Seed, kept
		return a.printJSON(out)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "heddle: note: %s\n", n)
	}
	p := a.printer(c.drawFlags, c.statsFlag)
	p.Seed, p.EarlyTimeouts, p.Prune = c.Seed, c.EarlyTimeouts, c.Prune
	if err := p.Find(r); err != nil {
		return err
	}
	p.Kept(kept)
	return p.Strategies(r.Search)
}
