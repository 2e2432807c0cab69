package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// neighbourRuns bounds the executions near the recorded schedule.
const neighbourRuns = 200

// tryRuns bounds the search with a tried lock, without --runs. It is about twice what a search makes before it
// begins to enumerate all behaviours, so that it is complete for small programs.
const tryRuns = 2000

type triedJSON struct {
	Outcome string      `json:"outcome"` // found: an execution failed; clean
	Locks   []triedLock `json:"locks"`
	Text    string      `json:"text"` // the result in words
	Checked fixJSON     `json:"checked"`
	Finding *foundByFix `json:"finding,omitempty"`
}

type triedLock struct {
	Range string `json:"range"` // LOCK@FILE:FROM-TO, as given
	Lock  string `json:"lock"`
	Lines string `json:"lines"`
	Own   bool   `json:"own"` // no variable of the program has the name: a lock of its own
	// Others are names of mutexes that the program has, if Own.
	Others []string `json:"others,omitempty"`
	Times  uint64   `json:"times"` // how often a thread entered the lines, over all executions
}

// fixJSON says which executions were made to check a fix.
type fixJSON struct {
	// Followed is false if the execution that follows the recorded schedule as closely as possible failed.
	Followed bool `json:"followed"`
	// Neighbours are executions near it: another order of two dependent events, or another place of a context
	// switch. Different is how many are not equivalent to one another. AllNeighbours is false if some were left out.
	Neighbours    int  `json:"neighbours"`
	Different     int  `json:"different"`
	AllNeighbours bool `json:"allNeighbours"`
	// Executions and Behaviours are those of the search. Complete means that it has executed every behaviour,
	// with the limits that heddle find states.
	Executions int  `json:"executions"`
	Behaviours int  `json:"behaviours"`
	Complete   bool `json:"complete"`
}

// foundByFix is a failure of the changed program.
type foundByFix struct {
	How     string          `json:"how"`  // recorded schedule, neighbour, search
	Same    bool            `json:"same"` // the failure is the recorded one
	Trace   string          `json:"trace,omitempty"`
	Failure *result.Finding `json:"failure"`
}

const (
	byRecorded  = "recorded schedule"
	byNeighbour = "neighbour"
	bySearch    = "search"
)

// try checks whether locks cure the failure of a trace.
func (c *explainCommand) try(a *app, tr *trace.Trace) error {
	if !tr.Ending.Kind.Failed() {
		return errors.New("the recorded execution does not fail: there is nothing that a lock could cure")
	}
	how := c.how()
	how.TryLock = c.TryLock
	t, err := a.launcher().StartRecorded(a.ctx, tr, how)
	if err != nil {
		return err
	}
	defer t.Close()
	files, err := a.traceWriter(c.Output, tracefile.Derived(c.Trace, "tried"))
	if err != nil {
		return err
	}
	names := report.NewRunning(t.Modules)
	ctx, cancel, err := c.within(a)
	if err != nil {
		return err
	}
	defer cancel()
	opts := engine.Options{
		Seed: 1, Runs: tryRuns, Time: c.Time, StopWhenSequential: true, NoSimplify: true, Keep: files.Keep,
		Where: names.Place, Locate: names.Locate, Objects: names.Object, Untold: toolchain.Untold,
	}
	if c.Runs != nil {
		opts.Runs = *c.Runs
	}
	if opts.Search, err = strategy.ParseSearch(nil, strategy.Bounds{}); err != nil {
		return err
	}
	p := a.progress()
	fix, err := engine.CheckFix(ctx, t, tr, neighbourRuns, opts, p.find)
	p.done()
	if err != nil && (fix.Search == nil || fix.Search.Finding == nil) {
		return c.overtime(ctx, a, t, err)
	}
	if err := launch.NeverTried(t); err != nil {
		return err
	}
	out := triedJSON{Outcome: result.Clean, Locks: locksOf(t), Checked: checkedBy(fix)}
	if out.Finding, err = foundWith(t, tr, fix, files); err != nil {
		return err
	}
	if out.Finding != nil {
		out.Outcome = result.Found
	} else if fix.Followed.Ending.Kind == trace.Unfinished {
		return fmt.Errorf("the execution under the recorded schedule did not end (%s), so nothing is known about the fix", fix.Followed.Ending.Message)
	} else if problem := notDecided(fix.Search); problem != nil {
		return problem
	}
	out.Text = out.words()
	if a.JSON {
		err = a.printJSON(out)
	} else {
		fmt.Fprintln(a.stdout, out.Text)
		if f := out.Finding; f != nil && f.Trace != "" {
			fmt.Fprintf(a.stdout, "trace: %s\nreplay: heddle replay %s\n", f.Trace, wording.Quoted(f.Trace))
		}
	}
	if err == nil && out.Finding != nil {
		return errFound
	}
	return err
}

func locksOf(t target.Target) (out []triedLock) {
	if c, ok := target.As[target.LockTrier](t); ok {
		for _, l := range c.TriedLocks() {
			out = append(out, triedLock{l.Range, l.Lock, l.Lines, l.Own, l.Others, l.Times})
		}
	}
	return out
}

func checkedBy(fix *engine.Fix) (c fixJSON) {
	c.Followed = !fix.Followed.Ending.Kind.Failed()
	if n := fix.Neighbours; n != nil {
		c.Neighbours, c.Different, c.AllNeighbours = n.Executions, n.Different, n.Complete
	}
	if s := fix.Search; s != nil {
		c.Executions, c.Behaviours = s.Executions, s.Behaviours
		c.Complete = s.Ended == engine.Sequential || s.Ended == engine.Complete && s.Coverage != nil && s.Coverage.Complete && s.Coverage.Preemptions < 0
	}
	return c
}

// foundWith returns the failure of the changed program, nil for none, and keeps its trace.
func foundWith(t target.Target, recorded *trace.Trace, fix *engine.Fix, files *tracefile.Writer) (f *foundByFix, err error) {
	failing := fix.Followed
	switch {
	case fix.Followed.Ending.Kind.Failed():
		f = &foundByFix{How: byRecorded}
	case fix.Neighbours != nil && fix.Neighbours.Failing != nil:
		f, failing = &foundByFix{How: byNeighbour}, fix.Neighbours.Failing
	case fix.Search != nil && fix.Search.Finding != nil:
		s := fix.Search.Finding
		f = &foundByFix{How: bySearch, Trace: s.Trace, Failure: &result.Finding{Confirmed: s.Confirmed, Key: s.Key, Kind: s.Kind, Message: s.Message, Where: s.Where, Strategy: s.Strategy}}
		if s.Recorded != nil {
			f.Same = engine.SameFailure(recorded, s.Recorded)
			f.Failure = result.OfTrace(s.Recorded, t)
			f.Failure.Confirmed = s.Confirmed
		}
		return f, nil
	default:
		return nil, nil
	}
	f.Same, f.Failure = engine.SameFailure(recorded, failing), result.OfTrace(failing, t)
	f.Trace, err = files.Keep(failing, "")
	return f, err
}

// notDecided returns why a search without a finding does not show that the failure is gone.
func notDecided(s *engine.Report) error {
	switch {
	case s == nil || s.Outcome == engine.Nothing:
		return nil
	case s.Outcome == engine.Unreproduced:
		return fmt.Errorf("%s failed and did not fail again when run again, so nothing is known about the fix", wording.Count(s.NotReproduced, "execution"))
	case s.Outcome == engine.Interrupted:
		return errors.New("interrupted before the search had ended")
	}
	return fmt.Errorf("the search ended without a result (%s), so nothing is known about the fix", s.Outcome)
}

// others names mutexes of the program, which a name that is none of them may have meant.
func others(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "; the program has a mutex " + names[0]
	}
	return "; mutexes of the program are " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// words returns the result as sentences.
func (out *triedJSON) words() string {
	var held []string
	for _, l := range out.Locks {
		name := l.Lock
		if l.Own {
			name += " (a lock of its own" + others(l.Others) + ")"
		}
		held = append(held, name+" held at "+l.Lines)
	}
	with := "with " + strings.Join(held, " and ")
	f, c := out.Finding, &out.Checked
	if f == nil {
		s := fmt.Sprintf("%s, the recorded schedule and %s do not fail, and a search finds no failure in %s (%s)", with,
			wording.Count(c.Different, "neighbour"), wording.Count(c.Executions, "execution"), wording.Count(c.Behaviours, "behaviour"))
		if c.Complete {
			s += "\ncomplete: no execution fails, with the limits of a complete search"
		}
		return s
	}
	verb := "the program fails in another way"
	switch {
	case f.Same:
		verb = "it still fails"
	case f.Failure.Kind == trace.Deadlock.String():
		verb = "it deadlocks"
	}
	where := map[string]string{byRecorded: "under the recorded schedule", byNeighbour: "near the recorded schedule", bySearch: "in the search"}[f.How]
	return fmt.Sprintf("%s, %s, %s: %s", with, verb, where, f.Failure.Headline())
}

// check refuses flags that do not go with --try-lock.
func (c *explainCommand) check() error {
	switch {
	case c.Runs != nil && *c.Runs < 2:
		return usage.Errorf("--runs must be at least 2")
	case len(c.TryLock) > 0 && c.HTML != "":
		return usage.Errorf("--html shows the order on which a failure depends: it cannot be combined with --try-lock")
	}
	return nil
}
