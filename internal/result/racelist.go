package result

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/sarif"
	"github.com/heddle-dev/heddle/internal/suppress"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Races is what heddle races prints.
type Races struct {
	Search
	Ended string `json:"ended"`
	Seed  uint64 `json:"seed"`
	// Races are pairs of instructions, ordered by verdict, the worst first, and then by source line.
	Races []RaceFound `json:"races"`
	// Suppressed counts the races, as pairs of instructions, and the findings that the user does not want to see.
	Suppressed int      `json:"suppressed"`
	Notes      []string `json:"notes,omitempty"`
	// Findings are the failures that the search met, whether they depend on a race or not.
	Findings []Distinct `json:"findings,omitempty"`

	suppressed []RaceFound
}

// RaceFound is a race with what is known about it.
type RaceFound struct {
	Verdict string      `json:"verdict"` // harmful, no failure seen, unconfirmed
	Why     string      `json:"why,omitempty"`
	Object  string      `json:"object"`
	Size    uint32      `json:"size,omitempty"` // bytes; absent if unknown
	Sides   [2]RaceSide `json:"sides"`
	// Orders counts the watched executions in which Sides came in this order, and in the other.
	Orders [2]int `json:"orders"`
	// Failure is the failure that depends on a harmful race; Turned counts the executions with the
	// accesses turned that did not fail.
	Failure *RaceFailure `json:"failure,omitempty"`
	Turned  int          `json:"turned,omitempty"`
}

// RaceFailure is the failure that a race leads to.
type RaceFailure struct {
	Key     string `json:"key"`
	Message string `json:"message"`
	Trace   string `json:"trace"`
}

// RaceSide is one access of a race.
type RaceSide struct {
	Op     string    `json:"op"`
	said   string    // what it did
	Order  string    `json:"order,omitempty"`  // memory order of an atomic
	Thread *int      `json:"thread,omitempty"` // in the execution that was recorded
	Where  string    `json:"where"`
	Locks  *[]string `json:"locks,omitempty"` // held by the thread; absent if unknown
	Stack  []Frame   `json:"stack"`           // innermost first
}

// Frame is a function call.
type Frame struct {
	Func   string `json:"func"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Module string `json:"module,omitempty"`

	linkage string
}

// RacesOf returns the result of a search for races, without its seed. Races and failures that are in
// the list of suppressions are only counted.
func RacesOf(found []engine.RaceFound, r *engine.Report, names *report.Running, known suppress.List) Races {
	whole := Of(r)
	out := Races{Search: whole.Search, Ended: whole.Ended, Notes: whole.Notes, Races: []RaceFound{}}
	out.Suppressed, out.Findings = len(r.Ignored), whole.Findings
	for i := range found {
		x := raceFound(&found[i], r, names)
		if known.Race(x.Object, x.Sides[0].frames(), x.Sides[1].frames()) {
			out.Suppressed++
			out.suppressed = append(out.suppressed, x)
			continue
		}
		out.Races = append(out.Races, x)
	}
	slices.SortStableFunc(out.Races, func(a, b RaceFound) int { return a.rank() - b.rank() })
	confirmed := slices.ContainsFunc(out.Races, func(x RaceFound) bool { return x.Verdict != string(engine.RaceUnconfirmed) })
	switch {
	case confirmed || len(out.Findings) > 0:
		out.Outcome = Found
	case r.Outcome == engine.Interrupted && r.Executions > 0:
		out.Outcome = Interrupted
	case whole.Outcome == Found && len(out.Races) == 0 && r.Unfinished == nil:
		out.Outcome = Clean // but for what was suppressed
	case len(out.Races) > 0:
		out.Outcome = Unfinished
	}
	return out
}

// rank orders races by verdict.
func (x *RaceFound) rank() int {
	return slices.Index([]string{string(engine.Harmful), string(engine.NoFailure), string(engine.RaceUnconfirmed)}, x.Verdict)
}

func raceFound(f *engine.RaceFound, r *engine.Report, names *report.Running) RaceFound {
	out := RaceFound{Verdict: string(f.Verdict), Why: f.Why, Object: f.Name, Size: f.Size, Orders: f.Orders, Turned: f.Turned}
	for i := range f.Sides {
		s := &f.Sides[i]
		x := RaceSide{Op: s.Op.String(), said: s.Text, Order: s.Order, Where: s.Where, Stack: framesOf(append([]trace.Site{s.Site}, s.Stack...), names)}
		if s.Thread >= 0 {
			id := int(s.Thread)
			x.Thread = &id
		}
		if s.Locks != nil {
			x.Locks = &s.Locks
		}
		out.Sides[i] = x
	}
	if f.Failure >= 0 {
		d := &r.Findings[f.Failure]
		out.Failure = &RaceFailure{Key: d.Finding.Key, Message: headline(d.Finding.Kind, d.Finding.Message), Trace: d.Finding.Trace}
		if d.Simplified != nil && d.Simplified.Trace != "" {
			out.Failure.Trace = d.Simplified.Trace
		}
	}
	return out
}

// framesOf returns the functions of a stack, of which the first site is the instruction itself or, for
// an access, the return address of its hook.
func framesOf(sites []trace.Site, names *report.Running) []Frame {
	out := []Frame{}
	for _, s := range sites {
		for _, f := range names.Frames(s) {
			if f != (symbol.Frame{}) {
				out = append(out, Frame{f.Func, f.File, f.Line, f.Module, f.Linkage})
			}
		}
	}
	return out
}

func (s *RaceSide) frames() (out []suppress.Frame) {
	for _, f := range s.Stack {
		out = append(out, f.suppressible())
	}
	return out
}

func (f *Frame) suppressible() suppress.Frame {
	return suppress.Frame{Funcs: []string{f.Func, f.linkage}, File: f.File, Module: f.Module}
}

// Suppressed returns the function that engine.Options.Suppressed is, for a list of suppressions.
func Suppressed(known suppress.List, names *report.Running) func(trace.Kind, string, [][]trace.Site) bool {
	return func(kind trace.Kind, object string, stacks [][]trace.Site) bool {
		var all [][]suppress.Frame
		for _, sites := range stacks {
			var frames []suppress.Frame
			for _, f := range framesOf(sites, names) {
				frames = append(frames, f.suppressible())
			}
			all = append(all, frames)
		}
		switch kind {
		case trace.Race:
			return known.Race(object, all...)
		case trace.Deadlock:
			return slices.ContainsFunc(all, func(f []suppress.Frame) bool { return known.Covers(suppress.Deadlock, f) })
		case trace.Misuse:
			return slices.ContainsFunc(all, func(f []suppress.Frame) bool { return known.Covers(suppress.Mutex, f) })
		}
		return false
	}
}

// text describes an access in one line.
func (s *RaceSide) text() string {
	var b strings.Builder
	b.WriteString(s.said)
	if s.Order != "" {
		fmt.Fprintf(&b, " (%s)", s.Order)
	}
	fmt.Fprintf(&b, " at %s", s.Where)
	if s.Thread != nil {
		fmt.Fprintf(&b, " by T%d", *s.Thread)
	}
	switch {
	case s.Locks == nil:
	case len(*s.Locks) == 0:
		b.WriteString(", holding no lock")
	default:
		fmt.Fprintf(&b, ", holding %s", strings.Join(*s.Locks, ", "))
	}
	return b.String()
}

// memory names what both sides accessed, with its size if that is known.
func (x *RaceFound) memory() string {
	if x.Size == 0 {
		return x.Object
	}
	return x.Object + ", " + wording.Count(int(x.Size), "byte")
}

// verdict describes what is known about a race in one line.
func (x *RaceFound) verdict() string {
	switch engine.Verdict(x.Verdict) {
	case engine.Harmful:
		return fmt.Sprintf("harmful: %s; %s with the accesses turned did not fail", x.Failure.Message, wording.Count(x.Turned, "execution"))
	case engine.RaceUnconfirmed:
		return "unconfirmed: " + x.Why
	}
	if x.Orders[0] == 0 || x.Orders[1] == 0 {
		return fmt.Sprintf("one order executed, in %s, and no failure seen to depend on it", wording.Count(x.Orders[0]+x.Orders[1], "watched execution"))
	}
	return fmt.Sprintf("both orders executed, in %s and %s watched executions, and no failure seen to depend on it", wording.Thousands(x.Orders[0]), wording.Thousands(x.Orders[1]))
}

// same reports whether two races look the same to a reader.
func (x *RaceFound) same(y *RaceFound) bool {
	is := func(a, b *RaceSide) bool { return a.Op == b.Op && a.Where == b.Where }
	return x.Object == y.Object && x.Verdict == y.Verdict && (is(&x.Sides[0], &y.Sides[0]) && is(&x.Sides[1], &y.Sides[1]) || is(&x.Sides[0], &y.Sides[1]) && is(&x.Sides[1], &y.Sides[0]))
}

// distinct returns the first of the races that look the same to a reader.
func distinct(races []RaceFound) (out []*RaceFound) {
	for i := range races {
		x := &races[i]
		if !slices.ContainsFunc(out, x.same) {
			out = append(out, x)
		}
	}
	return out
}

func shownPlaces(races []*RaceFound) (all []places) {
	for _, x := range races {
		all = append(all, places{object: x.Object, where: [2]string{x.Sides[0].Where, x.Sides[1].Where}, apart: x.Verdict})
	}
	return all
}

// Races prints the result of heddle races.
func (p *Printer) Races(r *Races) {
	w := p.Words
	shown := distinct(r.Races)
	all := shownPlaces(shown)
	groups := grouped(all)
	if p.AllPlaces {
		groups = nil
		for i := range shown {
			groups = append(groups, []int{i})
		}
	}
	for _, g := range groups {
		x := shown[g[0]]
		fmt.Fprintf(w, "data race: %s\n", x.memory())
		for k := range x.Sides {
			s := &x.Sides[k]
			fmt.Fprintf(w, "  %s\n", s.text())
			p.stack(w, s.Stack)
		}
		fmt.Fprintf(w, "  %s\n", x.verdict())
		if more := morePlaces(all, g); more != "" {
			fmt.Fprintf(w, "  %s (--all-places shows them)\n", more)
		}
		if f := x.Failure; f != nil && f.Trace != "" {
			fmt.Fprintf(w, "  replay: heddle replay %s\n", wording.Quoted(f.Trace))
		}
		fmt.Fprintln(w)
	}
	what, pairs := wording.Count(len(groups), "data race"), 0
	for _, g := range groups {
		pairs += placesOf(all, g)
	}
	switch {
	case len(groups) == 0:
		what = "no data race"
	case len(groups) < pairs:
		what += fmt.Sprintf(" at %s pairs of places", wording.Thousands(pairs))
	}
	u := r.UnfinishedExecutions
	switch {
	case r.Ended == string(engine.ByInterrupt):
		what = "interrupted; " + what + " so far"
	case len(groups) == 0 && u != nil && u.Executions == r.Executions:
		what += " so far"
	}
	fmt.Fprintf(w, "%s in %s (%.1f s)", what, wording.Count(r.Executions, "execution"), r.Seconds)
	if n := len(grouped(shownPlaces(distinct(r.suppressed)))) + r.Suppressed - len(r.suppressed); n > 0 {
		fmt.Fprintf(w, "; %s suppressed", wording.Thousands(n))
	}
	fmt.Fprintln(w)
	PrintUnfinished(w, r.UnfinishedExecutions)
	printCut(w, r.Cut, r.InTurns, r.Executions)
	if len(shown) == 0 && len(r.Findings) == 0 {
		printRelaxed(w, r.Relaxed)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "failure: %s\n  at %s\n", f.Finding.Headline(), f.Finding.Where)
		if f.Trace != "" {
			fmt.Fprintf(w, "  replay: heddle replay %s\n", wording.Quoted(f.Trace))
		}
	}
}

// stack prints the frames of a stack that have a source line, or all with Full.
func (p *Printer) stack(w io.Writer, frames []Frame) {
	for i, f := range frames {
		if !p.Full && (f.Line == 0 || i > 0 && symbol.Frame{File: f.File}.System()) {
			continue
		}
		at := symbol.Frame{Func: f.Func, Linkage: f.linkage, File: f.File, Line: f.Line, Module: f.Module}
		fmt.Fprintf(w, "    %s\n", at.String())
	}
}

// rules describe the kinds of results in a SARIF log.
var rules = map[string]string{
	"data-race": "Two threads access the same memory, at least one writes, and nothing orders the accesses.",
}

// SARIF writes the races and failures in the form of SARIF. Files below root are named relative to it.
func (r *Races) SARIF(w io.Writer, version, root string) error {
	tool := sarif.Tool{Name: "heddle", Version: version, URL: "https://github.com/heddle-dev/heddle", Rules: map[string]string{}}
	for id, text := range rules {
		tool.Rules[id] = text
	}
	for _, f := range r.Findings {
		tool.Rules[ruleOf(f.Finding.Kind)] = "An execution ends with: " + f.Finding.Kind + "."
	}
	return sarif.Write(w, tool, root, r.results())
}

// Annotate writes the races and failures as annotations.
func (r *Races) Annotate(a Annotations) error { return a.write(r.results(), nil) }

// ruleOf is the identifier of a kind of failure.
func ruleOf(kind string) string { return strings.ReplaceAll(kind, " ", "-") }

func (r *Races) results() (out []sarif.Result) {
	add := func(races []RaceFound, suppressed string) {
		for i := range races {
			x := races[i].sarif()
			x.Suppressed = suppressed
			out = append(out, x)
		}
	}
	add(r.Races, "")
	add(r.suppressed, "it matches a line of a suppression file")
	for _, f := range r.Findings {
		x := sarif.Result{Rule: ruleOf(f.Finding.Kind), Level: sarif.Error, Message: f.Finding.Headline(), Key: f.Finding.Key, Where: placeOf(f.Finding.Where, f.Shown)}
		if f.Shown != nil {
			locate(&x, ShortView(f.Shown, nil))
		}
		if f.Trace != "" {
			x.Notes = append(x.Notes, "heddle replay "+wording.Quoted(f.Trace))
		}
		out = append(out, x)
	}
	return out
}

// placeOf returns the innermost function with a source line on the stack of a failure, or else its
// place in words.
func placeOf(where string, t *trace.Trace) sarif.Place {
	if t != nil {
		names := report.NewRunning(func() []trace.Module { return t.Modules })
		for _, s := range append([]trace.Site{t.Ending.Site}, t.Ending.Stack...) {
			for _, f := range names.Frames(s) {
				if f.Known() && !f.System() {
					return sarif.Place{Func: f.Func, File: f.File, Line: f.Line, Message: where}
				}
			}
		}
	}
	return sarif.Place{Message: where}
}

func (x *RaceFound) sarif() sarif.Result {
	level := map[string]sarif.Level{string(engine.Harmful): sarif.Error, string(engine.NoFailure): sarif.Warning}[x.Verdict]
	if level == "" {
		level = sarif.Note
	}
	out := sarif.Result{
		Rule: "data-race", Level: level, Message: fmt.Sprintf("data race: %s: %s; %s", x.memory(), x.Sides[0].text(), x.Sides[1].text()),
		Notes: []string{x.verdict()},
	}
	places := [2]sarif.Place{}
	var keys []string
	for i := range x.Sides {
		s := &x.Sides[i]
		stack := sarif.Stack{Message: s.text()}
		for _, f := range s.Stack {
			at := sarif.Place{Func: f.Func, File: f.File, Line: f.Line}
			if places[i] == (sarif.Place{}) && f.Line > 0 && !(symbol.Frame{File: f.File}).System() {
				places[i] = at
			}
			stack.Frames = append(stack.Frames, at)
		}
		places[i].Message = s.text()
		out.Stacks = append(out.Stacks, stack)
		keys = append(keys, fmt.Sprintf("%s %s %s:%d", s.Op, places[i].Func, filepath.Base(places[i].File), places[i].Line))
	}
	slices.Sort(keys)
	out.Where, out.Related, out.Key = places[0], []sarif.Place{places[1]}, strings.Join(keys, ", ")
	if x.Failure != nil && x.Failure.Trace != "" {
		out.Notes = append(out.Notes, "heddle replay "+wording.Quoted(x.Failure.Trace))
	}
	return out
}
