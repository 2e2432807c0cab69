package result

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Find prints the result of heddle find.
func (p *Printer) Find(r *engine.Report) error {
	var err error
	switch {
	case len(r.Findings) > 0:
		return p.findings(r)
	case r.Finding != nil:
		err = p.finding(r, &engine.Found{Finding: r.Finding, Simplified: r.Simplified}, true)
	case r.Executions > 0:
		p.printNothing(r)
	}
	printIgnored(p.Words, r.Ignored)
	return err
}

// findings prints the findings of a search for all, and what the search has covered.
func (p *Printer) findings(r *engine.Report) error {
	w, n := p.Words, len(r.Findings)
	for i := range r.Findings {
		fmt.Fprintf(w, "finding %d of %d: ", i+1, n)
		if err := p.finding(r, &r.Findings[i], false); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	begun := ""
	if r.Ended == engine.ByInterrupt {
		begun = "interrupted; "
	}
	fmt.Fprintf(w, "%s%s in %s (%.1f s)%s\n", begun, wording.Count(n, "distinct finding"), wording.Count(r.Executions, "execution"), r.Seconds, ended(r))
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  %s: %s\n", f.Finding.Key, wording.Count(f.Executions, "execution"))
	}
	PrintUnfinished(w, r.Unfinished)
	printCut(w, r.Cut, r.InTurns, r.Executions)
	p.printSetUp(r.SetUp)
	p.printCovered(r)
	printRaces(w, r)
	printIgnored(w, r.Ignored)
	return nil
}

// printIgnored lists the findings that the user named.
func printIgnored(w io.Writer, ignored []engine.Ignored) {
	for _, i := range ignored {
		if i.Executions == 0 {
			fmt.Fprintf(w, "ignored: no execution of %s\n", i.Key)
			continue
		}
		fmt.Fprintf(w, "ignored: %s of %s\n", wording.Count(i.Executions, "execution"), i.Key)
	}
}

// printNothing prints how far a search without a finding has come.
func (p *Printer) printNothing(r *engine.Report) {
	w := p.Words
	how := "no failure in "
	if r.NotReproduced > 0 {
		how = "no failure that comes again in "
	}
	switch {
	case r.Outcome == engine.OnlyIgnored:
		how = "nothing is known but ignored findings, which ended all of "
	case r.Masked > 0:
		how = strings.Replace(how, "failure", "other failure", 1)
	}
	if r.Outcome == engine.Interrupted {
		how = "interrupted; " + strings.Replace(how, "failure", "failure so far", 1)
	}
	if u := r.Unfinished; u != nil && u.Executions == r.Executions {
		PrintUnfinished(w, u)
		printRaces(w, r)
		return
	}
	executions := wording.Count(r.Executions, "execution")
	if u := r.Unfinished; u != nil {
		PrintUnfinished(w, u)
		executions = "the " + wording.Count(r.Executions-u.Executions, "execution") + " that ended"
	}
	fmt.Fprintf(w, "%s%s (%.1f s)", how, executions, r.Seconds)
	fmt.Fprintln(w, ended(r))
	printCut(w, r.Cut, r.InTurns, r.Executions)
	p.printSetUp(r.SetUp)
	if r.NotReproduced > 0 {
		fmt.Fprintf(w, "%s failed and did not fail again when run again\n", wording.Count(r.NotReproduced, "execution"))
	}
	if r.Ended != engine.Sequential {
		p.printCovered(r)
	}
	printRelaxed(w, r.Relaxed)
	printRaces(w, r)
}

// PrintUnfinished prints where the threads of an execution were that heddle ended before it was over; u may be nil.
func PrintUnfinished(w io.Writer, u *engine.UnfinishedExecutions) {
	if u == nil {
		return
	}
	why, how, _ := strings.Cut(u.Why, ": ")
	points := wording.Count(u.Points, "scheduling point")
	switch why {
	case trace.CutBySteps:
		fmt.Fprintf(w, "execution %d did not end within its budget of %s", u.Execution, points)
	case trace.CutByWatchdog:
		fmt.Fprintf(w, "execution %d did not end: no scheduling point for the time of --watchdog, after %s", u.Execution, points)
	case trace.NoProgress:
		fmt.Fprintf(w, "execution %d did not end: heddle sees no progress after %s, and whether it goes on is not known", u.Execution, points)
	case trace.CutByThreads:
		fmt.Fprintf(w, "execution %d did not end: it created %s threads, the most that heddle can number, in %s", u.Execution, wording.Thousands(trace.MaxThreads), points)
	case trace.CutByOthers:
		fmt.Fprintf(w, "execution %d did not end: after %s it waits for another process", u.Execution, points)
	case trace.CutByUser:
		fmt.Fprintf(w, "execution %d had not ended after %s when heddle was interrupted", u.Execution, points)
	default:
		fmt.Fprintf(w, "execution %d did not end in time: %s", u.Execution, points)
	}
	if u.Longest > 0 {
		fmt.Fprintf(w, ", where the longest that ended had %s", wording.Thousands(u.Longest))
	}
	if how != "" {
		fmt.Fprintf(w, " (%s)", how)
	}
	if u.Executions > 1 {
		fmt.Fprintf(w, "; %s more did not end", wording.Thousands(u.Executions-1))
	}
	fmt.Fprintln(w)
	for _, line := range PositionLines(u.Threads) {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// printCut prints how many of the executions of a search were cut, and how many had decisions in some turns only; c may be nil.
func printCut(w io.Writer, c *engine.CutExecutions, inTurns, executions int) {
	if c != nil {
		fmt.Fprintf(w, "cut:     %s of %s, after at most %s (--cut)\n", wording.Thousands(c.Executions), wording.Count(executions, "execution"), wording.Count(c.Points, "scheduling point"))
	}
	if inTurns > 0 {
		fmt.Fprintf(w, "turns:   %s of %s, with scheduling decisions only in some turns of loops\n", wording.Thousands(inTurns), wording.Count(executions, "execution"))
	}
}

// printSetUp prints whether executions repeat the program's set-up; u may be nil.
func (p *Printer) printSetUp(u *engine.SetUp) {
	if u == nil || !p.Stats {
		return
	}
	cause := "because of " + u.Because
	if u.Where != "" {
		cause += " at " + u.Where
	}
	switch {
	case u.Shared == 0:
		fmt.Fprintf(p.Words, "set-up:  repeated by every execution, %s\n", cause)
	case u.Because == "":
		fmt.Fprintf(p.Words, "set-up:  not repeated by %s\n", wording.Count(u.Shared, "execution"))
	default:
		fmt.Fprintf(p.Words, "set-up:  not repeated by %s; by others, %s\n", wording.Count(u.Shared, "execution"), cause)
	}
}

// PositionLines says where the threads of an execution are, each in a line, the first of them if they are many.
func PositionLines(threads []report.Position) (lines []string) {
	const most = 20
	for i, p := range threads {
		if i == most {
			return append(lines, "and "+wording.Count(len(threads)-most, "more thread"))
		}
		lines = append(lines, p.Line())
	}
	return lines
}

// printRelaxed prints what no execution shows of the atomics that were performed.
func printRelaxed(w io.Writer, r *engine.Relaxed) {
	if r == nil {
		return
	}
	lines := func(n int) string {
		if r.More {
			return fmt.Sprintf("at least %s", wording.Count(n, "source line"))
		}
		return wording.Count(n, "source line")
	}
	if r.Lines > 0 {
		fmt.Fprintf(w, "not explored: memory orders weaker than sequential consistency, in atomics on %s\n", lines(r.Lines))
	}
	if r.WeakLines > 0 {
		fmt.Fprintf(w, "not explored: spurious failures of compare_exchange_weak, on %s\n", lines(r.WeakLines))
	}
}

// ended returns why a search ended before its limits, for the end of a sentence.
func ended(r *engine.Report) string {
	switch r.Ended {
	case engine.Sequential:
		return ": it has one thread and no choice, so every execution is like this one"
	case engine.Stale:
		return fmt.Sprintf(": ended early, since the last %s showed nothing new (--stale)", wording.Thousands(r.Executions-r.Newest))
	}
	return ""
}

// printCovered prints what the search has covered, and how likely it has missed something.
func (p *Printer) printCovered(r *engine.Report) {
	w := p.Words
	whole := r.Ended == engine.Complete && r.Coverage != nil && r.Coverage.Complete
	if !whole {
		fmt.Fprintf(w, "covered: %s, the last new one in execution %s\n", wording.Count(r.Behaviours, wording.Behaviour), wording.Thousands(r.Newest))
	}
	printCoverage(w, r.Coverage, whole)
	if p.Stats {
		fmt.Fprintf(w, "memory scheduling points: %s\n", wording.Thousands(r.Points))
	}
	if r.Unseen == nil {
		return
	}
	how, chance := "about", r.Unseen.Estimate
	if chance == 0 {
		how, chance = "less than", r.Unseen.Below
	}
	if chance >= 1 {
		return // too few executions for an estimate
	}
	fmt.Fprintf(w, "unseen:  the next execution shows a new behaviour with a probability of %s %s (an estimate)\n", how, wording.Percent(chance))
}

// printCoverage prints what an exhaustive search has enumerated, and relative to what. whole says that
// the search has ended with that.
func printCoverage(w io.Writer, c *strategy.Coverage, whole bool) {
	if c == nil {
		return
	}
	bounded := ""
	if c.Preemptions >= 0 {
		bounded = " with at most " + c.Bound()
	}
	switch {
	case !c.Complete && len(c.Missing) == 0 && !c.Fair:
		fmt.Fprintf(w, "partly:  %s enumerated, and more are left\n", wording.Count(c.Executions, "execution"))
		return
	case !c.Complete:
		fmt.Fprintf(w, "partly:  %s enumerated%s; there may be others\n", wording.Count(c.Executions, "execution"), bounded)
		for _, why := range c.Missing {
			fmt.Fprintf(w, "  %s\n", why)
		}
		if c.Fair && c.Reduced {
			fmt.Fprint(w, "  a thread yields, and dpor does not enumerate all fair schedules\n")
		}
		return
	}
	head, limits := "complete:", "for this input, sequentially consistent memory, the accesses that heddle sees (not the order of addresses), and no early time-outs"
	if !whole { // the search went on: to larger bounds, or to samples with early time-outs
		head, limits = "so far, without early time-outs:", "for this input, sequentially consistent memory, and the accesses that heddle sees (not the order of addresses)"
	}
	switch {
	case c.Reduced && bounded != "":
		fmt.Fprintf(w, "complete up to %s: each state that a thread reaches with them was reached, in %s", c.Bound(), wording.Count(c.Executions, "execution"))
	case c.Reduced && !whole: // the search counts more behaviours, those with early time-outs
		fmt.Fprintf(w, "%s all that can happen was executed, in %s", head, wording.Count(c.Behaviours, "execution"))
	case c.Reduced:
		fmt.Fprintf(w, "%s %s of %s executed", head, wording.Thousands(c.Behaviours), wording.Count(c.Behaviours, "behaviour")) // r.Behaviours is the same
	case c.Fair:
		fmt.Fprintf(w, "%s all fair schedules%s executed: %s", head, bounded, wording.Thousands(c.Executions))
	default:
		fmt.Fprintf(w, "%s all schedules%s executed: %s", head, bounded, wording.Thousands(c.Executions))
	}
	fmt.Fprintf(w, "\n  %s\n", limits)
}

// maxDrawn is how many events find draws without being asked: more would take seconds, and pages.
const maxDrawn = 50_000

// foundIn names the execution that failed, with the tables also the strategy that planned it, if it is another one, and its
// policy. The first one has no strategy that a user could name.
func (p *Printer) foundIn(execution int, planned, described string) string {
	if !p.Stats {
		return "execution " + wording.Thousands(execution)
	}
	description := strategy.Unseeded(described)
	if description == "fair" {
		return "the first, fair execution"
	}
	if policy, _, _ := strings.Cut(description, " "); planned != "" && planned != policy && planned != "first execution" {
		description = fmt.Sprintf("%s (%s)", planned, description)
	}
	return fmt.Sprintf("execution %s by %s", wording.Thousands(execution), description)
}

// finding prints a failure: its kind, the execution, and the files it is in. If it is the only one,
// finding also prints what else the search has seen.
func (p *Printer) finding(r *engine.Report, found *engine.Found, only bool) error {
	w, f := p.Words, found.Finding
	fmt.Fprintln(w, headline(f.Kind, f.Message))
	if f.Where != "" {
		fmt.Fprintf(w, "  at %s\n", f.Where)
	}
	spent := ""
	if only {
		spent = fmt.Sprintf("%.2f s in all; ", r.Seconds)
	}
	if f.Known {
		fmt.Fprintln(w, "  found before, and not fixed")
	} else if p.Inexact {
		fmt.Fprintf(w, "  found on the controlled scheduler in %s\n", p.foundIn(f.Execution, f.Planned, f.Strategy))
	} else {
		fmt.Fprintf(w, "  found in %s; %s--seed %d finds it again\n", p.foundIn(f.Execution, f.Planned, f.Strategy), spent, p.Seed)
	}
	if only && r.Ended != engine.ByFailure && !f.Known { // a race does not end a search
		fmt.Fprintf(w, "  nothing worse in %s (%.1f s)%s; --races=ignore passes over races\n", wording.Count(r.Executions, "execution"), r.Seconds, ended(r))
		if c := r.Cut; c != nil {
			fmt.Fprintf(w, "  %s of them cut after at most %s\n", wording.Thousands(c.Executions), wording.Count(c.Points, "scheduling point"))
		}
		var cut bytes.Buffer
		PrintUnfinished(&cut, r.Unfinished)
		for line := range strings.Lines(cut.String()) {
			fmt.Fprint(w, "  "+line)
		}
	}
	printKey(w, f.Key)
	if !f.Confirmed {
		fmt.Fprintln(w, "  not confirmed: it was seen once, and no replay has shown it again")
	}
	fmt.Fprintln(w)
	shown, replay := f.Recorded, f.Trace
	if s := found.Simplified; s != nil {
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
		fmt.Fprintf(w, "\n%s\n%s\n", earlySentence(early), p.earlyAdvice())
	}
	if only {
		p.printSetUp(r.SetUp)
	}
	if p.Stats && found.Simplified != nil {
		fmt.Fprintln(w)
		if err := p.Summary(found.Simplified.Details); err != nil {
			return err
		}
	}
	if only && (f.Race == nil || len(r.Races) > 1) { // otherwise it is the one above
		printRaces(w, r)
	}
	if f.Trace == "" {
		return nil // it could not be written, which is reported elsewhere
	}
	if f.Known {
		printKnown(w, f.Trace)
		printWhy(w, foundOf(found).Finding, f.Trace)
		return nil
	}
	fmt.Fprintf(w, "\nas found:   %s\n", f.Trace)
	if s := found.Simplified; s != nil && s.Trace != "" {
		fmt.Fprintf(w, "simplified: %s%s\n", s.Trace, Unsimplified(s))
	}
	fmt.Fprintf(w, "replay:     heddle replay %s\n", wording.Quoted(replay))
	printWhy(w, foundOf(found).Finding, replay)
	return nil
}

// printKey prints how to pass over a finding.
func printKey(w io.Writer, key string) {
	if key != "" {
		fmt.Fprintf(w, "  key: %s (--ignore searches past it)\n", key)
	}
}

// Unsimplified returns how far a simplification got, for a message.
func Unsimplified(s *engine.Simplified) string {
	out := ""
	switch {
	case s.Complete:
		out += " (minimal: no schedule of its scheduling points with fewer context switches fails)"
	case s.Cut:
		out += " (incomplete; heddle simplify continues from it)"
	case s.Details != nil && s.Details.Fewest > 0 && s.Details.Fewest == s.Switches:
		out += fmt.Sprintf(" (the best found; no other order of its independent operations has fewer than %s; %s)", wording.Count(s.Switches, "context switch"), s.Unproven)
	default:
		out += " (the best found; " + s.Unproven + ")"
	}
	if !s.Confirmed {
		out += " (not confirmed by a replay)"
	}
	return out
}

// Simplifying returns the executions of a simplification, for a message: those until its result, and those after.
func Simplifying(r *tinertia.Result) string {
	after := "that found nothing smaller"
	if r.Complete {
		after = "to show that nothing smaller exists"
	}
	return fmt.Sprintf("%s until the result, %s %s", wording.Thousands(r.LastGain), wording.Thousands(r.Afterwards), after)
}

// earlyAdvice says how to rule out what earlySentence explains.
func (p *Printer) earlyAdvice() string {
	if p.EarlyTimeouts {
		return "Without --early-timeouts such delays add up to 100 ms at most; --no-early-timeouts rules them out."
	}
	return "If your machine never delays a thread for so long, use --no-early-timeouts."
}

// earlySentence explains a finding that depends on n overtakings.
func earlySentence(n int) string {
	times := "once"
	if n > 1 {
		times = wording.Thousands(n) + " times"
	}
	return fmt.Sprintf("A time-out, sleep or timer ended while another thread could run (%s), as on a machine that delays that thread.", times)
}
