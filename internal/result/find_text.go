package result

import (
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Find prints the result of heddle find.
func (p *Printer) Find(r *engine.Report) error {
	switch {
	case r.Finding != nil:
		return p.finding(r)
	case r.Executions > 0:
		printNothing(p.Words, r)
	}
	return nil
}

// printNothing prints how far a search without a finding has come.
func printNothing(w io.Writer, r *engine.Report) {
	how := "no failure in "
	if r.NotReproduced > 0 {
		how = "no failure that comes again in "
	}
	if r.Outcome == engine.Interrupted {
		how = "interrupted; " + strings.Replace(how, "failure", "failure so far", 1)
	}
	fmt.Fprintf(w, "%s%s (%.1f s)", how, wording.Count(r.Executions, "execution"), r.Seconds)
	switch r.Ended {
	case engine.Sequential:
		fmt.Fprint(w, ": it has one thread and no choice, so every execution is like this one")
	case engine.Stale:
		fmt.Fprintf(w, ": ended early, since the last %s showed nothing new (--stale)", wording.Thousands(r.Executions-r.Newest))
	}
	fmt.Fprintln(w)
	if r.NotReproduced > 0 {
		fmt.Fprintf(w, "%s failed and did not fail again when run again\n", wording.Count(r.NotReproduced, "execution"))
	}
	if r.Ended != engine.Sequential {
		printCovered(w, r)
	}
	printRaces(w, racesSeen(r))
}

// printCovered prints what the search has covered, and how likely it has missed something.
func printCovered(w io.Writer, r *engine.Report) {
	fmt.Fprintf(w, "covered: %s, the last new one in execution %s; %s\n",
		wording.Count(r.Behaviours, "distinct behaviour"), wording.Thousands(r.Newest), wording.Count(r.Points, "memory scheduling point"))
	if r.Unseen == nil {
		return
	}
	how, p := "about", r.Unseen.Estimate
	if p == 0 {
		how, p = "less than", r.Unseen.Below
	}
	if p >= 1 {
		return // too few executions for an estimate
	}
	fmt.Fprintf(w, "unseen:  the next execution shows a new behaviour with a probability of %s %s (an estimate)\n", how, wording.Percent(p))
}

// maxDrawn is how many events find draws without being asked: more would take seconds, and pages.
const maxDrawn = 50_000

// foundIn names the execution that failed and its strategy. The first one has no strategy that a
// user could name.
func foundIn(execution int, described string) string {
	description := strategy.Unseeded(described)
	if description == "fair" {
		return "the first, fair execution"
	}
	return fmt.Sprintf("execution %s by %s", wording.Thousands(execution), description)
}

// finding prints a failure: its kind, the execution, and the files it is in.
func (p *Printer) finding(r *engine.Report) error {
	w, f := p.Words, r.Finding
	fmt.Fprintln(w, headline(f.Kind, f.Message))
	if f.Where != "" {
		fmt.Fprintf(w, "  at %s\n", f.Where)
	}
	fmt.Fprintf(w, "  found in %s; %.2f s in all; --seed %d finds it again\n", foundIn(f.Execution, f.Strategy), r.Seconds, p.Seed)
	if !f.Confirmed {
		fmt.Fprintln(w, "  seen once; not replayed yet")
	}
	fmt.Fprintln(w)
	shown, replay := f.Recorded, f.Trace
	if s := r.Simplified; s != nil {
		shown, replay = s.Recorded, s.Trace
	}
	if shown != nil {
		if n := len(shown.Events); n > maxDrawn && !p.Full {
			fmt.Fprintf(w, "not drawn here, for its %s; heddle show draws the trace\n", wording.Count(n, "event"))
		} else if err := p.Trace(shown); err != nil {
			return err
		}
	}
	if early := overtakings(shown); early > 0 {
		fmt.Fprintf(w, "\n%s\nIf your machine never delays a thread for so long, use --no-early-timeouts.\n", earlySentence(early))
	}
	if p.Stats && r.Simplified != nil {
		fmt.Fprintln(w)
		if err := p.Summary(r.Simplified.Details); err != nil {
			return err
		}
	}
	if f.Race == nil || len(r.Races) > 1 { // otherwise it is the one above
		printRaces(w, racesSeen(r))
	}
	if f.Trace == "" {
		return nil // it could not be written, which is reported elsewhere
	}
	fmt.Fprintf(w, "\nas found:   %s\n", f.Trace)
	if s := r.Simplified; s != nil && s.Trace != "" {
		fmt.Fprintf(w, "simplified: %s%s\n", s.Trace, Unsimplified(s))
	}
	fmt.Fprintf(w, "replay:     heddle replay %s\n", wording.Quoted(replay))
	return nil
}

// Unsimplified returns how far a simplification got, for a message.
func Unsimplified(s *engine.Simplified) string {
	out := ""
	switch {
	case s.Complete:
		out += " (minimal: no schedule with fewer context switches fails)"
	case s.Cut:
		out += " (not to the end; heddle simplify goes on from it)"
	default:
		out += " (the best found; " + s.Unproven + ")"
	}
	if !s.Confirmed {
		out += " (not replayed yet)"
	}
	return out
}

// earlySentence explains a finding that depends on n overtakings.
func earlySentence(n int) string {
	times := "once"
	if n > 1 {
		times = wording.Thousands(n) + " times"
	}
	return fmt.Sprintf("A time-out, sleep or timer ended while another thread could run (%s), as on a machine that delays that thread.", times)
}
