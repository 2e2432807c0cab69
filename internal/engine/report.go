package engine

import (
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/trace"
)

// Result says how a search ended.
type Result string

const (
	Bug         Result = "bug"         // a failure was found; Finding says whether it was confirmed
	Nothing     Result = "none"        // nothing was found within the bounds
	Unfinished  Result = "unfinished"  // no execution ended within the bounds: nothing is known
	Interrupted Result = "interrupted" // the context ended first
	Failed      Result = "error"       // heddle could not go on; the error says why
)

// End says why an exploration ended.
type End string

const (
	ByFailure   End = "failure"     // an execution failed
	Sequential  End = "sequential"  // no execution can differ from the first: Options.StopWhenSequential
	Stale       End = "stale"       // nothing new for long: Options.Stale
	Complete    End = "complete"    // the strategy has no other plan
	ByTime      End = "time"        // Options.Time
	ByRuns      End = "runs"        // Options.Runs
	ByInterrupt End = "interrupted" // the context ended
	ByError     End = "error"       // heddle could not go on
)

// Report is the result of Find, in the form of its JSON.
type Report struct {
	Outcome Result `json:"outcome"`
	Ended   End    `json:"ended"`
	// Executions were made to explore; confirming and simplifying are not counted.
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"perSecond"`
	Rounds     int     `json:"rounds"`
	// Behaviours is the number of distinct orders of conflicting operations seen. It
	// stops at MaxBehaviours.
	Behaviours int `json:"behaviours"`
	// Newest is the execution that showed a new behaviour last, from 1; 0 if none did.
	Newest int `json:"newest"`
	// Unseen is an estimate of the probability that the next execution shows a new
	// behaviour; nil where it cannot be had.
	Unseen       *Unseen `json:"unseen,omitempty"`
	Instrumented bool    `json:"instrumented"` // accesses were seen
	Points       int     `json:"points"`       // memory instructions that were scheduling points at the end
	Races        []Race  `json:"races"`
	ExpectStatus int32   `json:"expectStatus"`
	// RacesIncomplete says why Races may be missing some that recorded executions had; empty
	// if all of their accesses were looked at.
	RacesIncomplete string `json:"races_incomplete,omitempty"`
	// Sequential: the first execution had no choice at all, and no other was made; see
	// Options.StopWhenSequential.
	Sequential bool `json:"sequential,omitempty"`
	// NotReproduced counts failures that did not come again when their plan was run
	// again or their trace followed. They are not findings; Notes has the first few.
	NotReproduced int      `json:"notReproduced"`
	Notes         []string `json:"notes,omitempty"`

	// Leaks are the goroutines that tests left, each of them seen again in a process of its
	// own.
	Leaks []Leak `json:"leaks,omitempty"`

	Finding    *Finding    `json:"finding,omitempty"`
	Simplified *Simplified `json:"simplified,omitempty"`
}

// Unseen is an estimate of what has not been seen; see behaviours for its assumptions.
type Unseen struct {
	Estimate float64 `json:"estimate"` // probability that the next execution shows a new behaviour
	// Below bounds it from above with a confidence of 95 % where the estimate is 0.
	Below float64 `json:"below,omitempty"`
}

// Finding is the failure that was found. Where it was simplified, Message, Where, Threads and
// Race are those of the simplified execution.
type Finding struct {
	// Confirmed: the execution was run again, recorded, and its trace followed to the same
	// end. Otherwise there was no time to, and Report.Notes says why.
	Confirmed bool   `json:"confirmed"`
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Where     string `json:"where"`
	Threads   []int  `json:"threads"`   // that took part
	Strategy  string `json:"strategy"`  // that found it, with its parameters and seed
	Execution int    `json:"execution"` // which one of the exploration, from 1
	// Trace is the file the execution was written to, empty if it was not. Events,
	// Switches and Preemptions are of its scheduling points.
	Trace       string `json:"trace,omitempty"`
	Events      int    `json:"events"`
	Switches    int    `json:"switches"`
	Preemptions int    `json:"preemptions"`
	// Race has both sides of a data race, in the order in which they happened.
	Race *Race `json:"race,omitempty"`

	Recorded *trace.Trace `json:"-"` // nil where the execution could not be recorded
}

// Simplified is the failure in as few context switches as were found.
type Simplified struct {
	Trace       string  `json:"trace,omitempty"` // file
	Events      int     `json:"events"`
	Threads     int     `json:"threads"`
	Switches    int     `json:"switches"`
	Preemptions int     `json:"preemptions"`
	Executions  int     `json:"executions"`
	Seconds     float64 `json:"seconds"`
	// Complete is false if simplification was cut short.
	Complete bool `json:"complete"`
	// Confirmed: the trace was followed to the same end.
	Confirmed bool             `json:"confirmed"`
	Details   *tinertia.Result `json:"details"`

	Recorded *trace.Trace `json:"-"`
}

// Race is a pair of instructions that raced in some recorded execution.
type Race struct {
	First  Access `json:"first"`
	Second Access `json:"second"`
	Object uint64 `json:"object"` // of the witness, as a trace.Object
	Name   string `json:"name"`   // what the object is called
	Size   uint32 `json:"size"`
}

// Access is one side of a race.
type Access struct {
	Op    string     `json:"op"`
	Site  trace.Site `json:"site"`
	Where string     `json:"where"`
}
