// Package result presents the result of a search for bugs: as JSON, in the form of docs/json.md,
// and as text.
package result

import (
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// Values of Search.Outcome; some are of packages only.
const (
	Found       = "found"
	Clean       = "clean"
	Interrupted = "interrupted"
	Unfinished  = "unfinished" // executions did not end, or some failed that did not fail again when run again
	Ignored     = "ignored"    // every execution ended in an ignored finding
	Failed      = "failed"     // heddle could not run it
	NoTests     = "no tests"
	Built       = "built"  // its test binary was kept, and no test explored
	Listed      = "listed" // its tests were listed, not explored
	SetupFailed = "setup failed"
	BuildFailed = "build failed"
)

// Search is the extent of a search, of a program or of one test.
type Search struct {
	Outcome    string  `json:"outcome"`
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	Behaviours int     `json:"behaviours"`
	Points     int     `json:"points"`
	// Coverage is what an exhaustive search has enumerated.
	Coverage *strategy.Coverage `json:"coverage,omitempty"`
	// Relaxed counts the source lines whose atomics may do more than executions show; nil for none.
	Relaxed *engine.Relaxed `json:"relaxed,omitempty"`
	// SetUp says whether executions repeat the program's set-up; nil if nothing is known of that.
	SetUp *engine.SetUp `json:"set_up,omitempty"`
	// RacesIncomplete says why races may have been missed.
	RacesIncomplete string `json:"races_incomplete,omitempty"`
	// UnfinishedExecutions are those that heddle ended before they were over.
	UnfinishedExecutions *engine.UnfinishedExecutions `json:"unfinished,omitempty"`
	// Cut are those that the search ended on purpose, to make more of them.
	Cut *engine.CutExecutions `json:"cut,omitempty"`
	// Length is the scheduling points of the last whole execution, if executions are long.
	Length int `json:"length,omitempty"`
	// InTurns is the number of those with scheduling decisions only in some turns of loops.
	InTurns int `json:"in_turns,omitempty"`
}

// Find is what heddle find prints.
type Find struct {
	Search
	Ended  string  `json:"ended"`
	Seed   uint64  `json:"seed"`
	Newest int     `json:"newest"`
	Unseen *Unseen `json:"unseen,omitempty"`
	// Unreproduced counts failures that could not be reproduced.
	Unreproduced int      `json:"unreproduced,omitempty"`
	Notes        []string `json:"notes,omitempty"`
	Races        []Race   `json:"races"`
	// RacesUnconfirmed are libraries that may order the accesses of some Races.
	RacesUnconfirmed []string `json:"races_unconfirmed,omitempty"`
	// Strategies says what each strategy did, if asked for.
	Strategies []engine.Explained `json:"strategies,omitempty"`
	Aside
	Finding    *Finding    `json:"finding,omitempty"`
	Known      bool        `json:"known,omitempty"` // Finding is of the corpus
	Trace      string      `json:"trace,omitempty"`
	Simplified *Simplified `json:"simplified,omitempty"`
	Corpus     *Kept       `json:"corpus,omitempty"`
}

// Aside are the findings that did not end a search.
type Aside struct {
	// Findings are those of a search for all, in the order in which they were found.
	Findings []Distinct `json:"findings,omitempty"`
	// Ignored are those that the user named; Masked counts the executions that ended in one of
	// them or in a finding found before.
	Ignored []engine.Ignored `json:"ignored,omitempty"`
	Masked  int              `json:"masked,omitempty"`
}

// Distinct is one of several findings.
type Distinct struct {
	Finding    *Finding    `json:"finding"`
	Executions int         `json:"executions"` // that showed it
	Known      bool        `json:"known,omitempty"`
	Changed    bool        `json:"changed,omitempty"`
	Trace      string      `json:"trace,omitempty"`
	Simplified *Simplified `json:"simplified,omitempty"`

	Report *engine.Found `json:"-"` // nil if a kept schedule failed again
	Shown  *trace.Trace  `json:"-"`
}

// Why is the ordering on which a finding depends, as a few executions have shown it.
type Why struct {
	Pattern string `json:"pattern"`
	Short   string `json:"short"`
	Text    string `json:"text"`
	// Line is the sentence that every output has, Told the numbers of its events in the trace (report.Explanation).
	Line       string `json:"line"`
	Told       []int  `json:"told"`
	Passing    string `json:"passing,omitempty"` // the trace of the nearest execution that does not fail
	Executions int    `json:"executions"`
	// Cut says that the time was over before the orderings had been tried. Then the others but Executions are empty.
	Cut bool `json:"cut,omitempty"`
	// Reason says why Short is empty. Passed of the executions did not fail.
	Reason report.Unexplained `json:"reason,omitempty"`
	Passed int                `json:"passed,omitempty"`
}

// Unseen is an estimate of the probability that the next execution shows a new behaviour.
type Unseen struct {
	Estimate float64 `json:"estimate"`
	Below    float64 `json:"below,omitempty"`
}

// Finding is a failure.
type Finding struct {
	// Confirmed says that the failure occurred again when its trace was replayed.
	Confirmed bool   `json:"confirmed"`
	Key       string `json:"key"` // identity, for --ignore
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Where     string `json:"where"`
	Strategy  string `json:"strategy"`
	Planned   string `json:"planned,omitempty"`
	Execution int    `json:"execution"`
	// EarlyTimeouts is how many time-outs, sleeps and timers ended while other threads could run,
	// in the trace shown.
	EarlyTimeouts int `json:"early_timeouts,omitempty"`
	// Race has both sides of a data race, in the order in which they happened.
	Race []Access `json:"race,omitempty"`
	Why  *Why     `json:"why,omitempty"` // nil if it is not known
}

// Access is one side of a data race.
type Access struct {
	Op    string `json:"op"`
	Where string `json:"where"`
}

// Simplified is the failure with the fewest context switches found.
type Simplified struct {
	Trace       string  `json:"trace"`
	Events      int     `json:"events"`
	Threads     int     `json:"threads"`
	Switches    int     `json:"switches"`
	Preemptions int     `json:"preemptions"`
	Executions  int     `json:"executions"`
	Seconds     float64 `json:"seconds"`
	Complete    bool    `json:"complete"`
	Unproven    string  `json:"unproven,omitempty"`
	Cut         bool    `json:"cut"`
	LastGain    int     `json:"last_gain"`
	Confirmed   bool    `json:"confirmed"`
}

// Of returns the result of a search, without its seed.
func Of(r *engine.Report) Find {
	out := Find{
		Search: Search{Outcome: Clean, Executions: r.Executions, Seconds: r.Seconds, Behaviours: r.Behaviours, Points: r.Points, Coverage: r.Coverage, Relaxed: r.Relaxed, SetUp: r.SetUp, RacesIncomplete: r.RacesIncomplete, UnfinishedExecutions: r.Unfinished, Cut: r.Cut, InTurns: r.InTurns, Length: r.Length},
		Ended:  string(r.Ended), Newest: r.Newest, Unreproduced: r.NotReproduced, Notes: r.Notes, Races: racesSeen(r), RacesUnconfirmed: r.RacesUnconfirmed,
	}
	switch {
	case r.Finding != nil:
		out.Outcome = Found
	case r.Outcome == engine.Interrupted && r.Executions > 0:
		out.Outcome = Interrupted
	case r.Executions == 0, r.Outcome == engine.Unfinished, r.Outcome == engine.Unreproduced, r.Outcome == engine.Unconfirmed, r.Outcome == engine.Unhooked, r.Outcome == engine.OnlyCut:
		out.Outcome = Unfinished
	case r.Outcome == engine.OnlyIgnored:
		out.Outcome = Ignored
	}
	out.Ignored, out.Masked, out.Strategies = r.Ignored, r.Masked, r.Search
	for i := range r.Findings {
		out.Findings = append(out.Findings, foundOf(&r.Findings[i]))
	}
	if u := r.Unseen; u != nil {
		out.Unseen = &Unseen{u.Estimate, u.Below}
	}
	if r.Finding != nil {
		f := foundOf(&engine.Found{Finding: r.Finding, Simplified: r.Simplified})
		out.Finding, out.Known, out.Trace, out.Simplified = f.Finding, f.Known, f.Trace, f.Simplified
	}
	return out
}

// foundOf returns one finding of a search.
func foundOf(x *engine.Found) Distinct {
	f := x.Finding
	out := Distinct{
		Finding:    &Finding{Confirmed: f.Confirmed, Key: f.Key, Kind: f.Kind, Message: f.Message, Where: f.Where, Strategy: f.Strategy, Planned: f.Planned, Execution: f.Execution},
		Executions: x.Executions, Known: f.Known, Trace: f.Trace, Report: x, Shown: f.Recorded,
	}
	if f.Race != nil {
		for _, side := range []engine.Access{f.Race.First, f.Race.Second} {
			out.Finding.Race = append(out.Finding.Race, Access{side.Op, side.Where})
		}
	}
	if w := f.Why; w != nil {
		out.Finding.Why = WhyOf(w)
	}
	if s := x.Simplified; s != nil {
		out.Shown = s.Recorded
		out.Simplified = &Simplified{s.Trace, s.Events, s.Threads, s.Switches, s.Preemptions, s.Executions, s.Seconds, s.Complete, s.Unproven, s.Cut, s.Details.LastGain, s.Confirmed}
	}
	out.Finding.EarlyTimeouts = overtakings(out.Shown)
	return out
}

// OfTrace returns the failure in a replayed trace of the target's program.
func OfTrace(tr *trace.Trace, t target.Target) *Finding {
	f, names := finding.Of(tr.Ending, tr.Modules), report.NewRunning(t.Modules)
	key, _ := f.Key(tr.Stacks, names.Locate)
	out := &Finding{Confirmed: true, Key: key, Kind: f.Kind.String(), Message: f.Named(tr.Stacks, names.Locate), Where: f.Place(tr.Stacks, names.Locate).Text, Strategy: tr.Header.Strategy, EarlyTimeouts: overtakings(tr)}
	if e := report.Saved(tr); e != nil && e.Line != "" {
		out.Why = WhyOf(e)
	}
	for _, x := range tr.Ending.Accesses {
		out.Race = append(out.Race, Access{x.Op.String(), finding.Caller(x.Site, tr.Stacks[x.Stack], names.Locate).Text})
	}
	return out
}

// Headline returns the failure in one line. Some messages begin with their kind.
func (f *Finding) Headline() string { return headline(f.Kind, f.Message) }

func headline(kind, message string) string {
	if strings.HasPrefix(strings.TrimPrefix(message, "uncaught "), kind+":") {
		return message
	}
	return kind + ": " + message
}

// severity orders findings, the worst first.
func (f *Finding) severity() int {
	for k := trace.Kind(0); k <= trace.Livelock; k++ {
		if k.String() == f.Kind {
			return finding.Severity(k)
		}
	}
	return finding.Severity(trace.Clean)
}

// overtakings returns how many waits, sleeps and timers of a trace ended before their time.
func overtakings(tr *trace.Trace) int {
	if tr == nil {
		return 0
	}
	return tr.Overtakings()
}
