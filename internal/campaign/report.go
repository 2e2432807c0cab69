package campaign

import (
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/trace"
)

// Result says how a campaign ended.
type Result string

const (
	Bug         Result = "bug"         // a failure was found and confirmed
	Nothing     Result = "none"        // nothing was found within the bounds
	Interrupted Result = "interrupted" // the context ended first
	Failed      Result = "error"       // heddle could not go on; the error says why
)

// Report is what came of a campaign, in the form of its JSON.
type Report struct {
	Outcome Result `json:"outcome"`
	// Executions were made to explore; confirming and simplifying are not counted.
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"perSecond"`
	Rounds     int     `json:"rounds"`
	// Behaviours is the number of distinct orders of conflicting operations seen. It
	// stops at MaxBehaviours.
	Behaviours   int    `json:"behaviours"`
	Instrumented bool   `json:"instrumented"` // accesses were seen
	Points       int    `json:"points"`       // memory instructions that were scheduling points at the end
	Races        []Race `json:"races"`
	ExpectStatus int32  `json:"expectStatus"`
	// Sequential: the first execution had no choice at all, and no other was made; see
	// Options.StopWhenSequential.
	Sequential bool `json:"sequential,omitempty"`
	// NotReproduced counts failures that did not come again when their plan was run
	// again or their trace followed. They are no findings; Notes has the first few.
	NotReproduced int      `json:"notReproduced"`
	Notes         []string `json:"notes,omitempty"`

	// Leaks are the goroutines that tests left, each of them seen again in a process of its
	// own.
	Leaks []Leak `json:"leaks,omitempty"`

	Finding    *Finding    `json:"finding,omitempty"`
	Simplified *Simplified `json:"simplified,omitempty"`
}

// Finding is the failure that was found.
type Finding struct {
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
	Complete bool             `json:"complete"`
	Details  *tinertia.Result `json:"details"`

	Recorded *trace.Trace `json:"-"`
}

// Race is a pair of instructions that raced in some recorded execution.
type Race struct {
	First  Access `json:"first"`
	Second Access `json:"second"`
	Object uint64 `json:"object"` // of the witness, as a trace.Object
	Size   uint32 `json:"size"`
}

// Access is one side of a race.
type Access struct {
	Op    string     `json:"op"`
	Site  trace.Site `json:"site"`
	Where string     `json:"where"`
}

func (r *Report) setRaces(races []race.Race, where func(trace.Site) string) {
	r.Races = []Race{} // "[]" in JSON
	for _, x := range races {
		side := func(a race.Access) Access { return Access{a.Op.String(), a.Site, where(a.Site)} }
		r.Races = append(r.Races, Race{side(x.Pair[0]), side(x.Pair[1]), uint64(x.Object), x.Size})
	}
}
