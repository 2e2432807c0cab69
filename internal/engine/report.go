package engine

import (
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/trace"
)

// Result says how a search ended.
type Result string

const (
	Bug          Result = "bug"          // a failure was found; Finding records whether it was confirmed
	Nothing      Result = "none"         // no failure was found within the bounds
	OnlyIgnored  Result = "ignored"      // every execution ended in an ignored finding, so nothing else is known
	OnlyCut      Result = "cut"          // no failure was found, and no execution ran to its end (Report.Cut)
	Unreproduced Result = "unreproduced" // executions failed, and none failed again when run again
	Unconfirmed  Result = "unconfirmed"  // races are failures, and were seen, but a library may order them (Report.RacesUnconfirmed)
	Unfinished   Result = "unfinished"   // no failure was found, and heddle ended executions before they were over (Report.Unfinished)
	Unhooked     Result = "unhooked"     // nothing was found, and no access to memory was seen: the program calls no access hooks
	Interrupted  Result = "interrupted"  // the context ended first
	Failed       Result = "error"        // heddle failed; the error says why
)

// End says why an exploration ended.
type End string

const (
	ByFailure   End = "failure"     // an execution failed
	Sequential  End = "sequential"  // no execution can differ from the first: Options.StopWhenSequential
	Stale       End = "stale"       // no new behaviour for long: Options.Stale
	Complete    End = "complete"    // the strategy has no more plans; an exhaustive one has executed all it promises (Report.Coverage)
	Exhausted   End = "exhausted"   // an exhaustive strategy has no more plans, and Report.Coverage says what may be missing
	ByTime      End = "time"        // Options.Time
	ByRuns      End = "runs"        // Options.Runs
	ByInterrupt End = "interrupted" // the context ended
	ByError     End = "error"       // heddle failed
	ByFirst     End = "first"       // the first execution did not end
)

// Report is the result of Find, in the form of its JSON.
type Report struct {
	Outcome Result `json:"outcome"`
	Ended   End    `json:"ended"`
	// Executions counts those of the exploration, not of confirmation and simplification.
	Executions int `json:"executions"`
	// Skipped is how many of them a Go test ended by skipping what it had left to do.
	Skipped int `json:"skipped,omitempty"`
	// NewProcesses is how many of them had a new process, of a target that can repeat them in one.
	NewProcesses int     `json:"newProcesses,omitempty"`
	Seconds      float64 `json:"seconds"`
	PerSecond    float64 `json:"perSecond"`
	Rounds       int     `json:"rounds"`
	// Behaviours is the number of distinct orders of conflicting operations seen. It
	// stops at MaxBehaviours. After a complete search it is that of all behaviours.
	Behaviours int `json:"behaviours"`
	// Coverage is what an exhaustive search has enumerated; nil if the search was not exhaustive.
	Coverage *strategy.Coverage `json:"coverage,omitempty"`
	// Newest is the number, from 1, of the last execution that showed a new behaviour; 0 if none
	// did.
	Newest int `json:"newest"`
	// Unseen estimates the probability that the next execution shows a new behaviour; nil if there
	// is not enough data.
	Unseen       *Unseen `json:"unseen,omitempty"`
	Instrumented bool    `json:"instrumented"` // memory accesses are observed
	Points       int     `json:"points"`       // memory instructions that were scheduling points at the end
	Races        []Race  `json:"races"`
	ExpectStatus int32   `json:"expectStatus"`
	// RacesIncomplete says why Races may lack races of recorded executions; empty if all accesses
	// of those were checked.
	RacesIncomplete string `json:"races_incomplete,omitempty"`
	// Relaxed is nil if every atomic that was performed was sequentially consistent and could not fail
	// spuriously.
	Relaxed *Relaxed `json:"relaxed,omitempty"`
	// SetUp is nil if executions repeat what the program does before its first thread, and that takes little time or no cause is known.
	SetUp *SetUp `json:"set_up,omitempty"`
	// RacesUnconfirmed are the libraries that may order the accesses of some Races (Options.Untold).
	RacesUnconfirmed []string `json:"races_unconfirmed,omitempty"`
	// Sequential means that the first execution is the only possible one, so no other was run; see
	// Options.StopWhenSequential.
	Sequential bool `json:"sequential,omitempty"`
	// NotReproduced counts failures that did not reproduce when their plan was run again or their
	// trace replayed. They are not findings; Notes describes the first few.
	NotReproduced int `json:"notReproduced"`
	// Undecided counts those of them that were not tried again in full, as time ran out.
	Undecided int `json:"-"`
	// Unfinished are executions, counted among Executions, that heddle ended before they were over; nil without any.
	Unfinished *UnfinishedExecutions `json:"unfinished,omitempty"`
	// Length is the scheduling points of the last execution that ran to its end, 0 unless the first was long.
	Length int `json:"length,omitempty"`
	// InTurns is the number of executions, counted among Executions, with scheduling decisions only in some turns of loops.
	InTurns int `json:"in_turns,omitempty"`
	// Cut are executions, counted among Executions, that the search ended after a number of scheduling points; nil without any.
	Cut   *CutExecutions `json:"cut,omitempty"`
	Notes []string       `json:"notes,omitempty"`

	// Search says what each strategy did; nil unless Options.Explain is set.
	Search []Explained `json:"search,omitempty"`

	// Leaks are the goroutines left by tests, each confirmed in a process of its own.
	Leaks []Leak `json:"leaks,omitempty"`

	// Ignored are the findings of Options.Ignore and those that Options.Suppressed covers, ordered by key. Masked counts the executions
	// ended by such a finding, or with Options.All by one found before: what they would have
	// shown later is unknown.
	Ignored []Ignored `json:"ignored,omitempty"`
	// Early are the failures of Options.EarlyAside.
	Early  []Early `json:"early,omitempty"`
	Masked int     `json:"masked,omitempty"`

	// Findings are all findings of a search with Options.All, in the order in which they were
	// found; Finding and Simplified are then the first.
	Findings []Found `json:"findings,omitempty"`

	Finding    *Finding    `json:"finding,omitempty"`
	Simplified *Simplified `json:"simplified,omitempty"`
}

// Unseen estimates how much is still unseen; the comment on behaviours lists the assumptions.
type Unseen struct {
	Estimate float64 `json:"estimate"` // probability that the next execution shows a new behaviour
	// Below is an upper bound with 95 % confidence, set if the estimate is 0.
	Below float64 `json:"below,omitempty"`
}

// Finding is the failure found. If it was simplified, Message, Where, Threads and Race describe the
// simplified execution.
type Finding struct {
	// Confirmed means that the execution was recorded and its trace replayed identically, or
	// that a hang whose process had to be killed happened twice. If false, confirmation was cut
	// short, and Report.Notes says why.
	Confirmed bool   `json:"confirmed"`
	Known     bool   `json:"known,omitempty"` // an earlier search found it; not set by Find
	Key       string `json:"key"`             // see finding.Key; that of the execution as found
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Where     string `json:"where"`
	Threads   []int  `json:"threads"`  // involved in the failure
	Strategy  string `json:"strategy"` // the policy, with its parameters and seed
	// Planned is the strategy that planned the execution; empty if that is not known.
	Planned   string `json:"planned,omitempty"`
	Execution int    `json:"execution"` // number in the exploration, from 1
	// Trace is the file the execution was written to, or empty. Events, Switches and Preemptions
	// count its scheduling points.
	Trace       string `json:"trace,omitempty"`
	Events      int    `json:"events"`
	Switches    int    `json:"switches"`
	Preemptions int    `json:"preemptions"`
	// Race has both accesses of a data race, in the order in which they happened.
	Race *Race `json:"race,omitempty"`

	// Why is the ordering on which the finding depends; nil if none was found in a few executions. Its events are
	// those of an execution that is not kept.
	Why      *report.Explanation `json:"-"`
	Recorded *trace.Trace        `json:"-"` // nil if the execution could not be recorded
}

// Simplified is the failing execution with the fewest context switches found.
type Simplified struct {
	Trace       string  `json:"trace,omitempty"` // file
	Events      int     `json:"events"`
	Threads     int     `json:"threads"`
	Switches    int     `json:"switches"`
	Preemptions int     `json:"preemptions"`
	Executions  int     `json:"executions"`
	Seconds     float64 `json:"seconds"`
	// Complete means that no schedule leads to the failure with fewer context switches, or with as
	// many and fewer preemptions. If false, Unproven says why that is not known; Cut means that
	// simplification was cut short.
	Complete bool   `json:"complete"`
	Unproven string `json:"unproven,omitempty"`
	Cut      bool   `json:"cut"`
	// Confirmed means that the trace was replayed identically.
	Confirmed bool             `json:"confirmed"`
	Details   *tinertia.Result `json:"details"`

	Recorded *trace.Trace `json:"-"`
}

// Race is a pair of instructions that raced in some recorded execution.
type Race struct {
	First  Access `json:"first"`
	Second Access `json:"second"`
	Object uint64 `json:"object"` // of the witness, as a trace.Object
	Name   string `json:"name"`   // name of the object
	Size   uint32 `json:"size"`
	// Unconfirmed: a library of Report.RacesUnconfirmed may order the accesses.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
}

// Access is one side of a race.
type Access struct {
	Op    string     `json:"op"`
	Site  trace.Site `json:"site"`
	Where string     `json:"where"`
}
