package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/strategy"
)

func (c *findCommand) print(a *app, r *engine.Report) error {
	if a.JSON {
		out := findResult(r)
		out.Seed = c.Seed
		return a.printJSON(out)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "heddle: note: %s\n", n)
	}
	if r.Finding == nil {
		if r.Executions > 0 {
			c.printNothing(a.stdout, r)
		}
		return nil
	}
	return c.printFinding(a, r)
}

// printNothing says how far a search without a finding has come.
func (c *findCommand) printNothing(w io.Writer, r *engine.Report) {
	how := "no failure in "
	if r.NotReproduced > 0 {
		how = "no failure that comes again in "
	}
	if r.Outcome == engine.Interrupted {
		how = "interrupted; " + strings.Replace(how, "failure", "failure so far", 1)
	}
	fmt.Fprintf(w, "%s%s (%.1f s)", how, count(r.Executions, "execution"), r.Seconds)
	switch r.Ended {
	case engine.Sequential:
		fmt.Fprint(w, ": it has one thread and no choice, so every execution is like this one")
	case engine.Stale:
		fmt.Fprintf(w, ": ended early, since the last %s showed nothing new (--stale)", thousands(r.Executions-r.Newest))
	}
	fmt.Fprintln(w)
	if r.NotReproduced > 0 {
		fmt.Fprintf(w, "%s failed and did not fail again when run again\n", count(r.NotReproduced, "execution"))
	}
	if r.Ended != engine.Sequential {
		printCovered(w, r)
	}
	printRaces(w, racesSeen(r))
}

// printCovered says what was seen, and what may not have been.
func printCovered(w io.Writer, r *engine.Report) {
	fmt.Fprintf(w, "covered: %s, the last new one in execution %s; %s\n",
		count(r.Behaviours, "distinct behaviour"), thousands(r.Newest), count(r.Points, "memory scheduling point"))
	if r.Unseen == nil {
		return
	}
	how, p := "about", r.Unseen.Estimate
	if p == 0 {
		how, p = "less than", r.Unseen.Below
	}
	if p >= 1 {
		return // too few executions to say anything
	}
	fmt.Fprintf(w, "unseen:  the next execution shows a new behaviour with a probability of %s %s (an estimate)\n", how, percent(p))
}

// percent is a probability with two digits that count.
func percent(p float64) string {
	switch {
	case p >= 0.1:
		return fmt.Sprintf("%.0f %%", 100*p)
	case p >= 0.01:
		return fmt.Sprintf("%.1f %%", 100*p)
	}
	return fmt.Sprintf("%.2g %%", 100*p)
}

// printFinding shows a failure: what it is, the execution, and where it is kept.
// maxDrawn is how many events find draws without being asked: more take seconds, and pages.
const maxDrawn = 50_000

func (c *findCommand) printFinding(a *app, r *engine.Report) error {
	w, f := a.stdout, r.Finding
	fmt.Fprintln(w, headline(f.Kind, f.Message))
	if f.Where != "" {
		fmt.Fprintf(w, "  at %s\n", f.Where)
	}
	fmt.Fprintf(w, "  found in execution %s by %s; %.2f s in all; --seed %d finds it again\n", thousands(f.Execution), strategy.Unseeded(f.Strategy), r.Seconds, c.Seed)
	if !f.Confirmed {
		fmt.Fprintln(w, "  seen once; not replayed yet")
	}
	fmt.Fprintln(w)
	shown, replay := f.Recorded, f.Trace
	if s := r.Simplified; s != nil {
		shown, replay = s.Recorded, s.Trace
	}
	if shown != nil {
		if n := len(shown.Events); n > maxDrawn && !c.Full {
			fmt.Fprintf(w, "not drawn here, for its %s; heddle show draws the trace\n", count(n, "event"))
		} else if err := a.showTrace(shown, c.Full); err != nil {
			return err
		}
	}
	if early := overtakings(shown); early > 0 {
		fmt.Fprintf(w, "\n%s\nIf your machine never delays a thread for so long, use --no-early-timeouts.\n", earlySentence(early))
	}
	if c.Stats && r.Simplified != nil {
		fmt.Fprintln(w)
		if err := a.showSummary(r.Simplified.Details); err != nil {
			return err
		}
	}
	if f.Race == nil || len(r.Races) > 1 { // else it is the one above
		printRaces(w, racesSeen(r))
	}
	if f.Trace == "" {
		return nil // it could not be written, which is said elsewhere
	}
	fmt.Fprintf(w, "\nas found:   %s\n", f.Trace)
	if s := r.Simplified; s != nil && s.Trace != "" {
		fmt.Fprintf(w, "simplified: %s%s\n", s.Trace, unsimplified(s))
	}
	fmt.Fprintf(w, "replay:     heddle replay %s\n", quoted(replay))
	return nil
}

// unsimplified says what is missing of a simplification.
func unsimplified(s *engine.Simplified) string {
	out := ""
	if !s.Complete {
		out += " (not to the end; heddle simplify goes on from it)"
	}
	if !s.Confirmed {
		out += " (not replayed yet)"
	}
	return out
}
