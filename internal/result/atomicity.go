package result

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Verdicts on an interleaving.
const (
	VerdictBug       = "bug"        // forcing it made the program fail
	VerdictUnclear   = "unclear"    // the program failed with it, perhaps for another reason
	VerdictBenign    = "benign"     // it occurred, and the program did not fail
	VerdictNotForced = "not forced" // it did not occur
)

// Interleaving is an unserializable interleaving that heddle atomicity tried to force.
type Interleaving struct {
	Rank    int       `json:"rank"` // from 1
	Verdict string    `json:"verdict"`
	Pattern string    `json:"pattern"`
	Object  string    `json:"object"`
	P       Statement `json:"p"`
	R       Statement `json:"r"`
	C       Statement `json:"c"`
	Why     string    `json:"why"`
	// Gap, Instances and Distance are what the rank follows from (atomicity.Interleaving).
	Gap       uint64 `json:"gap"`
	Instances int    `json:"instances"`
	Distance  uint64 `json:"distance"`
	// The executions that were made for it (strategy.Target).
	Tried     int `json:"tried"`
	Held      int `json:"held"`
	Met       int `json:"met"`
	Forced    int `json:"forced"`
	Failures  int `json:"failures"`
	Along     int `json:"along"`
	Others    int `json:"others"`
	Execution int `json:"execution,omitempty"`
	// Near are schedules near that of the first execution that failed with it; nil if none were tried.
	Near *Near `json:"near,omitempty"`
	// Control is the file with the control that made the program fail on the backend live.
	Control string `json:"control,omitempty"`
}

// Near are schedules that differ from a failing one outside an interleaving: those that have it, up to the first that passes, and those in
// which it is undone.
type Near struct {
	With    strategy.Ended `json:"with"`
	Without strategy.Ended `json:"without"`
	// Explained: an explanation of the failing execution was looked for, and names two of its accesses.
	Explained bool `json:"explained"`
}

// Statement is one of its accesses.
type Statement struct {
	Op    string `json:"op"`
	Where string `json:"where"`
}

// Atomicity is what heddle atomicity prints.
type Atomicity struct {
	Profile       AtomicityProfile `json:"profile"`
	Interleavings []Interleaving   `json:"interleavings"`
	Search        Find             `json:"search"`
	Live          *Live            `json:"live,omitempty"`
}

// AtomicityProfile is what phase one has found.
type AtomicityProfile struct {
	Executions   int `json:"executions"`
	Instructions int `json:"instructions"` // that access memory of several threads
	// Potential interleavings, and those of them that are feasible, infeasible for one reason or
	// several, or occurred in a recording.
	Potential int `json:"potential"`
	Feasible  int `json:"feasible"`
	Order     int `json:"pruned_by_order"`
	Exclusion int `json:"pruned_by_exclusion"`
	Lifetime  int `json:"pruned_by_lifetime"`
	Exercised int `json:"exercised"`
	// Currents have a potential interleaving in which they are c, FeasibleCurrents a feasible one.
	Currents         int      `json:"currents"`
	FeasibleCurrents int      `json:"feasible_currents"`
	Threads          int      `json:"threads"` // of the recording with the most
	Missing          []string `json:"missing,omitempty"`
}

// LiveOf collects the result of a search on the backend live. exact is the search that then forced
// the interleavings with a failure on the controlled scheduler, by what strategy; empty and nil without one.
func LiveOf(r *engine.LiveReport, exact Find, by *strategy.CTrigger, names *report.Running) Atomicity {
	forced := map[atomicity.Triple]*strategy.Target{}
	if by != nil {
		for i := range by.Targets() {
			t := &by.Targets()[i]
			forced[t.Triple] = t
		}
	}
	failed := r.Plain != "" || slices.ContainsFunc(r.Targets, func(t engine.LiveTarget) bool { return t.Failures > 0 })
	foundExact := exact.Outcome == Found
	if exact.Executions == 0 { // then the search is that on the backend live
		exact.Executions, exact.Seconds, exact.Ended = r.Executions, r.Seconds, string(r.Ended)
	}
	switch {
	case failed:
		exact.Outcome = Found
	case r.Profile.Runs() == 0:
		exact.Outcome = Unfinished
	case r.Ended == engine.ByInterrupt:
		exact.Outcome = Interrupted
	default:
		exact.Outcome = Clean
	}
	out := Atomicity{Profile: profileOf(r.Profile, r.Missing), Interleavings: []Interleaving{}, Search: exact, Live: &Live{
		Executions: r.Executions, Seconds: r.Seconds, Profiling: r.Profiling, Analysis: r.Analysis, Forcing: r.Forcing, Ended: string(r.Ended), Plain: r.Plain, several: r.PlainSeveral, controlled: r.PlainControl != nil,
	}}
	for n := range r.Targets {
		t := &r.Targets[n]
		i := interleavingOf(n+1, &t.Interleaving, r.Recorded, names)
		i.Tried, i.Held, i.Met, i.Failures, i.Others = t.Tried, t.Held, t.Met, t.Failures, t.Others
		if exact := forced[t.Triple]; exact != nil {
			i.Near = nearOf(exact)
		}
		i.Verdict, i.Why = liveVerdict(t, r, forced[t.Triple], foundExact)
		out.Interleavings = append(out.Interleavings, i)
	}
	if blamed := func(i Interleaving) bool { return i.Verdict == VerdictBug }; failed && !slices.ContainsFunc(out.Interleavings, blamed) {
		for n := range out.Interleavings {
			if i := &out.Interleavings[n]; i.Verdict == VerdictBenign {
				i.Verdict = VerdictUnclear
				i.Why += "; but other executions failed, and which interleaving is to blame is not known"
			}
		}
	}
	return out
}

// liveVerdict returns what forcing an interleaving on the backend live has shown, and why. exact is what forcing it on the
// controlled scheduler has shown, nil if that was not done; foundExact: some execution failed there.
func liveVerdict(t *engine.LiveTarget, r *engine.LiveReport, exact *strategy.Target, foundExact bool) (verdict, why string) {
	frees := slices.ContainsFunc([]trace.Op{t.P.Op, t.R.Op, t.C.Op}, func(op trace.Op) bool { return ops.Does(op) == ops.Free })
	met := fmt.Sprintf("in %s of %s another thread came to r while one waited before c", wording.Thousands(t.Met), wording.Count(t.Tried, "execution"))
	switch {
	case t.Failures > 0 && r.Uncontrolled[t.Ending]:
		return VerdictUnclear, "an execution in which it was forced failed as one that nothing controlled did: " + t.Failure
	case t.Failures > 0 && exact != nil && exact.Needless+exact.Unneeded > 0:
		return VerdictUnclear, "an execution in which it was forced failed: " + t.Failure + "; on the controlled scheduler the program failed without it, too"
	case t.Failures > 0 && exact != nil && exact.Failures == 0 && exact.Forced > 0:
		return VerdictUnclear, "an execution in which it was forced failed: " + t.Failure + fmt.Sprintf("; on the controlled scheduler it occurred in %s, and none of these failed", wording.Count(exact.Forced, "execution"))
	case t.Failures > 0 && exact != nil && exact.Failures == 0 && foundExact:
		return VerdictUnclear, "an execution in which it was forced failed: " + t.Failure + "; the program failed on the controlled scheduler, too, but not with it"
	case t.Failures > 0 && exact != nil && exact.Failures > 0 && doubt(exact) != "":
		return VerdictUnclear, "an execution in which it was forced failed: " + t.Failure + "; on the controlled scheduler one did, too, " + doubt(exact)
	case t.Failures > 0 && t.Hung() && (exact == nil || exact.Failures == 0 || exact.Unchecked || exact.Kind != trace.Deadlock.String() && exact.Kind != trace.Hang.String()):
		return VerdictUnclear, "an execution in which it was forced did not end: " + t.Failure + "; that may come from the suspension, because forcing it on the controlled scheduler showed no deadlock"
	case t.Failures > 0:
		return VerdictBug, "an execution in which it was forced failed: " + t.Failure
	case t.Others > 0:
		return VerdictUnclear, fmt.Sprintf("%s in which threads were suspended for it failed, and whether it occurred is not known: %s", wording.Count(t.Others, "execution"), t.Failure)
	case t.Recorded > 0:
		return VerdictUnclear, fmt.Sprintf("it occurred in %s while profiling, and the program failed: %s", wording.Count(t.Recorded, "execution"), t.Failure)
	case t.Met > 0 && frees:
		return VerdictUnclear, met + ", and none failed; but one of the three frees the memory, and accesses to freed memory are checked on the controlled scheduler only"
	case t.Met > 0 && r.Doubtful:
		return VerdictUnclear, met + ", and none failed; but an execution failed in which no interleaving was seen to be forced, and this one may have occurred in it"
	case t.Met > 0:
		return VerdictBenign, met + ", and none failed"
	case t.Tried == 0:
		return VerdictNotForced, "the search ended before its turn"
	case t.Held == 0:
		return VerdictNotForced, fmt.Sprintf("no thread came to c right after p in %s", wording.Count(t.Tried, "execution"))
	}
	return VerdictNotForced, fmt.Sprintf("no thread came to r on the same bytes in time while another waited before c, in %s: r may be too far away, or a synchronisation keeps it out", wording.Count(t.Held, "execution"))
}

// Live is how a search on the backend live went.
type Live struct {
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	Profiling  float64 `json:"profiling"` // seconds of each part
	Analysis   float64 `json:"analysis"`
	Forcing    float64 `json:"forcing"`
	Ended      string  `json:"ended"`
	// Plain describes the failure of an execution in which no interleaving was seen to be forced. PlainControl is the file
	// with the control of that execution, empty if nothing was controlled in it, or several interleavings.
	Plain        string `json:"plain,omitempty"`
	PlainControl string `json:"plain_control,omitempty"`

	controlled, several bool
}

// AtomicityOf collects the result of a search by CTrigger.
func AtomicityOf(r *engine.Report, c *strategy.CTrigger, names *report.Running) Atomicity {
	out := Atomicity{Profile: profileOf(c.Profile(), c.Missing()), Interleavings: []Interleaving{}, Search: Of(r)}
	if r.Sequential {
		out.Profile.Threads = 1
	}
	for n, t := range c.Targets() {
		i := interleavingOf(n+1, &t.Interleaving, c.Recorded(), names)
		i.Tried, i.Held, i.Met, i.Forced, i.Failures, i.Along, i.Others, i.Execution = t.Tried, t.Held, t.Met, t.Forced, t.Failures, t.Along, t.Others, t.Execution
		i.Near = nearOf(&t)
		i.Verdict, i.Why = verdict(&t, c.FailedWith(t.Triple), names)
		out.Interleavings = append(out.Interleavings, i)
	}
	return out
}

func nearOf(t *strategy.Target) *Near {
	if t.With == (strategy.Ended{}) {
		return nil
	}
	return &Near{t.With, t.Without, t.Explained}
}

func profileOf(p *atomicity.Profile, missing []string) AtomicityProfile {
	s := AtomicityProfile{Executions: p.Runs(), Instructions: p.Shared(), Threads: p.Threads(), Missing: missing}
	for _, i := range p.All() {
		s.Potential++
		switch {
		case i.Exercised > 0:
			s.Exercised++
			fallthrough
		case i.Feasible:
			s.Feasible++
		default:
			for reason, n := range map[atomicity.Pruned]*int{atomicity.ByOrder: &s.Order, atomicity.ByExclusion: &s.Exclusion, atomicity.ByLifetime: &s.Lifetime} {
				if i.Pruned&reason != 0 {
					*n++
				}
			}
		}
	}
	s.Currents, s.FeasibleCurrents = p.Currents()
	return s
}

// interleavingOf describes an interleaving, which a recording showed, if there is one.
func interleavingOf(rank int, x *atomicity.Interleaving, recorded *trace.Trace, names *report.Running) Interleaving {
	i := Interleaving{
		Rank: rank, Pattern: x.Pattern.String(), P: statementOf(x.P, names), R: statementOf(x.R, names), C: statementOf(x.C, names),
		Gap: x.Gap, Instances: x.Instances, Distance: x.Distance,
	}
	if w := &x.Witness[1]; recorded != nil {
		i.Object = names.Object(recorded, w.Object, w.Size, len(recorded.Events)-1)
	}
	return i
}

func statementOf(s atomicity.Statement, names *report.Running) Statement {
	op := s.Op.String()
	if s.Op == trace.OpAtomicCas && s.Effect&atomicity.Writes == 0 {
		op += ", failed"
	}
	return Statement{op, names.Place(s.Site)}
}

// verdict returns what forcing a target has shown, and why. recorded is the number of recordings of phase one that had it and failed.
func verdict(t *strategy.Target, recorded int, names *report.Running) (verdict, why string) {
	failed := t.Message
	if failed == "" {
		failed = t.Kind
	}
	switch {
	case t.Failures > 0 && doubt(t) != "":
		return VerdictUnclear, fmt.Sprintf("execution %s failed with it: %s; %s", wording.Thousands(t.Execution), failed, doubt(t))
	case t.Failures > 0:
		return VerdictBug, fmt.Sprintf("execution %s failed with it: %s; %s", wording.Thousands(t.Execution), failed, shown(t))
	case t.Forced > 0:
		why = fmt.Sprintf("it occurred in %s of %s, and none of these failed", wording.Thousands(t.Forced), wording.Count(t.Tried, "execution"))
		verdict = VerdictBenign
	case t.Exercised > 0:
		verdict, why = VerdictBenign, fmt.Sprintf("seen while profiling in %s, but not forced", wording.Count(t.Exercised, "execution"))
	case t.Tried == 0:
		return VerdictNotForced, "the search ended before its turn"
	default:
		verdict, why = VerdictNotForced, missed(t, names)
	}
	switch {
	case recorded > 0 && t.Along == 0:
		verdict = VerdictUnclear
		why += fmt.Sprintf("; in %s while profiling it occurred and the program failed", wording.Count(recorded, "execution"))
	case t.Along > 0:
		verdict = VerdictUnclear
		why += fmt.Sprintf("; but in %s made for another interleaving it occurred, too, and they failed, first execution %s: %s", wording.Count(t.Along, "execution"), wording.Thousands(t.Execution), failed)
	case t.Others > 0:
		why += fmt.Sprintf("; %s without it failed, first execution %s: %s", wording.Thousands(t.Others), wording.Thousands(t.Execution), failed)
	}
	return verdict, why
}

// doubt returns why an interleaving with which an execution failed may not be to blame; empty if executions show that it is.
func doubt(t *strategy.Target) string {
	switch {
	case t.Needless > 0:
		return fmt.Sprintf("and so did %s of the same schedule in which only this was otherwise", wording.Count(t.Needless, "execution"))
	case t.Unneeded > 0:
		return fmt.Sprintf("and so did %s without it", wording.Count(t.Unneeded, "execution"))
	case t.Unchecked:
		return "the time limit left no time to find out whether it is to blame"
	case t.With.Failed == 0 || t.Without.Passed == 0:
		return "but no execution showed that this schedule passes without it"
	case t.Few && t.With.Passed == 0 && t.Without.Failed == 0:
		return "but too few schedules have it to tell: " + shown(t)
	case t.With.Passed > 0 && !t.Explained, t.Without.Failed > 0:
		return "but something else may decide: " + shown(t)
	case t.Elsewhere:
		return "but something else may decide: " + shown(t) + "; the explanation of the failing one names an order of other objects"
	}
	return ""
}

// shown returns what executions near one that failed with an interleaving show.
func shown(t *strategy.Target) string {
	ofWith, ofWithout := t.With.Failed+t.With.Passed, t.Without.Failed+t.Without.Passed
	text := fmt.Sprintf("of the schedules near that one, %s of %s with it failed, and %s of %s without it",
		wording.Thousands(t.With.Failed), wording.Thousands(ofWith), wording.Thousands(t.Without.Failed), wording.Thousands(ofWithout))
	if t.Explained {
		text += "; the explanation of the failing one names two of its accesses"
	}
	return text
}

// missed returns why an interleaving did not occur.
func missed(t *strategy.Target, names *report.Running) string {
	switch {
	case t.Held == 0:
		return fmt.Sprintf("no thread came to c before r in %s", wording.Count(t.Tried, "execution"))
	case t.Met > 0:
		return fmt.Sprintf("another thread did r while one waited before c, in %s, but not between the thread's p and c on the same bytes", wording.Count(t.Met, "execution"))
	}
	why := fmt.Sprintf("no thread came to r while another waited before c, in %s", wording.Count(t.Held, "execution"))
	w := t.Waits
	if w.Site == 0 {
		return why
	}
	where := names.Place(w.Site)
	if ops.Does(w.Op) == ops.Start {
		where = names.Entry(w.Site)
	}
	if t.Spins {
		return why + ": the thread of r polls memory at " + where + ", perhaps a synchronisation of the program's own"
	}
	return fmt.Sprintf("%s: the thread of r was in %s at %s", why, cmp.Or(ops.Of(w.Op).Words.Call, w.Op.String()), where)
}

// interleavingsShown is how many benign interleavings, and how many that were not forced, are listed;
// --json lists all.
const interleavingsShown = 10

// Atomicity prints the interleavings; the findings come before.
func (p *Printer) Atomicity(a *Atomicity) {
	w := p.Words
	s := &a.Profile
	fmt.Fprintf(w, "profiled %s: %s access memory of several threads\n", wording.Count(s.Executions, "execution"), wording.Count(s.Instructions, "instruction"))
	fmt.Fprintf(w, "unserializable interleavings: %s possible by the accesses, %s of them pruned%s, %s seen while profiling, %s to force\n",
		wording.Thousands(s.Potential), wording.Thousands(s.Potential-s.Feasible), reasons(s), wording.Thousands(s.Exercised), wording.Thousands(len(a.Interleavings)))
	switch {
	case s.Threads == 1:
		fmt.Fprintln(w, "the program has one thread, so nothing can come in between")
	case len(a.Interleavings) == 0:
		fmt.Fprintln(w, "nothing to force: that says nothing about code that these executions did not reach, nor about other kinds of failures; heddle find looks for all")
	}
	if a.Search.Finding == nil {
		printRelaxed(w, a.Search.Relaxed)
	}
	if l := a.Live; l != nil {
		fmt.Fprintf(w, "%s in parallel: %.1f s profiling, %.1f s analysis, %.1f s forcing\n", wording.Count(l.Executions, "execution"), l.Profiling, l.Analysis, l.Forcing)
		if l.Plain != "" {
			fmt.Fprintf(w, "an execution failed in which none of them was seen to be forced: %s\n", l.Plain)
			switch {
			case l.PlainControl != "":
				fmt.Fprintf(w, "  replay: heddle replay %s\n", wording.Quoted(l.PlainControl))
			case l.several:
				fmt.Fprintln(w, "  threads were suspended for several of them in it, so there is no control record; heddle find searches for all failures, and its traces replay exactly")
			case !l.controlled:
				fmt.Fprintln(w, "  no thread was suspended in it, so there is no control record; heddle find searches for all failures, and its traces replay exactly")
			}
		}
	}
	waiting := 0
	for i := range a.Interleavings {
		if a.Interleavings[i].Tried == 0 {
			waiting++
		}
	}
	ended := a.Search.Ended
	if a.Live != nil {
		ended = a.Live.Ended
	}
	switch engine.End(ended) {
	case engine.ByTime:
		fmt.Fprintf(w, "the time limit ended the search: %s of %s not tried, others not in every way\n", wording.Thousands(waiting), wording.Count(len(a.Interleavings), "interleaving"))
	case engine.ByInterrupt:
		fmt.Fprintf(w, "interrupted: %s of %s not tried, others not in every way\n", wording.Thousands(waiting), wording.Count(len(a.Interleavings), "interleaving"))
	}
	for _, why := range s.Missing {
		fmt.Fprintf(w, "not all of them may be known: %s\n", why)
	}
	for _, verdict := range []string{VerdictBug, VerdictUnclear, VerdictBenign, VerdictNotForced} {
		shown := 0
		list := merged(a.Interleavings, verdict)
		n := len(list)
		for i := range list {
			x := &list[i]
			if verdict != VerdictBug && shown == interleavingsShown {
				fmt.Fprintf(w, "  and %s more %s (--json lists all)\n", wording.Thousands(n-shown), verdict)
				break
			}
			shown++
			printInterleaving(w, x)
		}
	}
}

// together are interleavings of the same accesses of the same lines.
type together struct {
	*Interleaving
	more int // than this one
}

// merged returns the interleavings with a verdict. Those that no reader of the source can tell apart, because the compiler made
// several instructions of one access, are one: the first that has a control record, or the first.
func merged(all []Interleaving, verdict string) (list []together) {
	type key struct {
		pattern, object string
		p, r, c         Statement
	}
	at := map[key]int{}
	for i := range all {
		x := &all[i]
		if x.Verdict != verdict {
			continue
		}
		k := key{x.Pattern, x.Object, x.P, x.R, x.C}
		n, ok := at[k]
		if !ok {
			at[k] = len(list)
			list = append(list, together{Interleaving: x})
			continue
		}
		list[n].more++
		if list[n].Control == "" && x.Control != "" {
			list[n].Interleaving = x
		}
	}
	return list
}

func reasons(s *AtomicityProfile) string {
	var why []string
	for _, r := range []struct {
		n    int
		name string
	}{{s.Order, "by order"}, {s.Exclusion, "by a lock"}, {s.Lifetime, "by lifetime"}} {
		if r.n > 0 {
			why = append(why, fmt.Sprintf("%s %s", wording.Thousands(r.n), r.name))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return " (" + strings.Join(why, ", ") + ")"
}

func printInterleaving(w io.Writer, x *together) {
	object := x.Object
	if object == "" {
		object = "memory"
	}
	others := ""
	if x.more > 0 {
		others = fmt.Sprintf(", and %s more of the same lines", wording.Thousands(x.more))
	}
	fmt.Fprintf(w, "\n%s: %s of %s (rank %d%s)\n", x.Verdict, x.Pattern, object, x.Rank, others)
	for _, s := range []struct {
		name string
		Statement
	}{{"p", x.P}, {"r", x.R}, {"c", x.C}} {
		fmt.Fprintf(w, "  %s  %s\n", s.name, Access{s.Op, s.Where}.text())
	}
	fmt.Fprintf(w, "  %s\n", x.Why)
	if x.Control != "" {
		fmt.Fprintf(w, "  replay: heddle replay %s\n", wording.Quoted(x.Control))
	}
}
