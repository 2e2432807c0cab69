package tinertia

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Shape holds the figures of a trace in Table 1 of FSE'10.
type Shape struct {
	Size          int `json:"size"` // scheduling decisions
	Threads       int `json:"threads"`
	Switches      int `json:"switches"`
	NonPreemptive int `json:"nonPreemptive"`
	Preemptive    int `json:"preemptive"`
}

// ShapeOf measures a trace.
func ShapeOf(t *trace.Trace) Shape {
	c := trace.CostOf(choices(t.Events))
	return Shape{
		Size:          c.Events,
		Threads:       c.Threads,
		Switches:      c.Switches,
		NonPreemptive: c.Switches - c.Preemptions,
		Preemptive:    c.Preemptions,
	}
}

// Reduction is in percent of the number in the start trace; 0 if that is 0. It is negative if the
// number grew: fewer switches can include more non-preemptive ones.
type Reduction struct {
	Switches      float64 `json:"switches"`
	NonPreemptive float64 `json:"nonPreemptive"`
	Preemptive    float64 `json:"preemptive"`
}

// Table1 is a row of Table 1 of FSE'10.
type Table1 struct {
	Before    Shape     `json:"before"`
	After     Shape     `json:"after"`
	Reduction Reduction `json:"reduction"`
}

func newTable1(before, after Shape) Table1 {
	percent := func(b, a int) float64 {
		if b == 0 {
			return 0
		}
		return 100 * float64(b-a) / float64(b)
	}
	return Table1{before, after, Reduction{
		Switches:      percent(before.Switches, after.Switches),
		NonPreemptive: percent(before.NonPreemptive, after.NonPreemptive),
		Preemptive:    percent(before.Preemptive, after.Preemptive),
	}}
}

// Table2 is a row of Table 2 of FSE'10.
type Table2 struct {
	Bug        string  `json:"bug"`        // kind of ending
	Iterations int     `json:"iterations"` // of Algorithm 1's main loop
	Executions int     `json:"executions"` // including the one that checks the input
	Seconds    float64 `json:"seconds"`
}

// OperationStats counts the effects of one operation (FSE'10 §5.2). Only the first of the removed
// numbers that is not 0 must be positive: removing a thread, for example, may add events.
type OperationStats struct {
	Operation   Operation `json:"operation"`
	Beyond      bool      `json:"beyond"`   // not in the paper
	Tried       int       `json:"tried"`    // candidates
	Executed    int       `json:"executed"` // candidates whose execution was not known yet
	Accepted    int       `json:"accepted"`
	Switches    int       `json:"switches"` // removed
	Preemptions int       `json:"preemptions"`
	Threads     int       `json:"threads"`
	Events      int       `json:"events"`
}

func (s *OperationStats) add(o OperationStats) {
	s.Tried += o.Tried
	s.Executed += o.Executed
	s.Accepted += o.Accepted
	s.Switches += o.Switches
	s.Preemptions += o.Preemptions
	s.Threads += o.Threads
	s.Events += o.Events
}

// Accepted is one accepted change on the way from the input to the result.
type Accepted struct {
	Operation Operation    `json:"operation"`
	Iteration int          `json:"iteration"` // of Algorithm 1's main loop, from 1; 0 before the first
	Execution int          `json:"execution"` // executions made by then
	Cost      trace.Cost   `json:"cost"`      // after this change
	Trace     *trace.Trace `json:"-"`         // after this change; nil without Options.History
}

// Progress is reported after every execution.
type Progress struct {
	Operation  Operation  // operation of the candidate; empty for the check of the input
	Executions int        // made so far
	Iteration  int        // of Algorithm 1's main loop
	Accepted   bool       // whether the candidate was accepted
	Cost       trace.Cost // of the simplest execution so far
}

// Result is the result of Simplify.
type Result struct {
	// Trace is the simplest execution found. It is a recording, with the header of the input.
	Trace  *trace.Trace `json:"-"`
	Before trace.Cost   `json:"before"`
	After  trace.Cost   `json:"after"`
	// Drift is -1, or the index of the first scheduling decision in which the execution of the
	// input's own schedule differed from the recording, because the program or its input has
	// changed. Simplification then began with that execution, and Before is its cost.
	Drift int `json:"drift"`
	// Complete means that no schedule leads to the bug with fewer context switches, or with as many
	// and fewer preemptions: all of them were tried, except for those that only order independent
	// operations differently. If false, Unproven says why that is not known.
	Complete bool   `json:"complete"`
	Unproven string `json:"unproven,omitempty"`
	// Kept is the number of scheduling decisions at the start that were kept: Options.Kept.
	Kept int `json:"kept,omitempty"`
	// Cut means that MaxExecutions, Patience, the context or an error ended simplification before every
	// operation was tried.
	Cut bool `json:"cut"`
	// GaveUp means that Options.Patience did.
	GaveUp bool `json:"gaveUp,omitempty"`
	// LastGain is the number of executions after which the last improvement was found.
	LastGain int `json:"lastGain"`
	// Afterwards is the number of executions after these: they show that nothing smaller exists if Complete, and
	// found nothing smaller otherwise.
	Afterwards int `json:"afterwards"`
	// Fewest is the least number of context switches that an execution can have which orders the dependent
	// operations of the result in the same way, or a number that it cannot go below; 0 if not computed.
	Fewest     int              `json:"fewest,omitempty"`
	Table1     Table1           `json:"table1"`
	Table2     Table2           `json:"table2"`
	Operations []OperationStats `json:"operations"` // in the order in which they are tried
	Steps      []Accepted       `json:"steps"`
}

// StartedFrom adds an operation that produced the input from the original in the given number of
// executions, so that the tables of the result begin with the original.
func (r *Result) StartedFrom(original *trace.Trace, op Operation, executions int) {
	was := r.Before
	r.Before = trace.CostOf(choices(original.Events))
	r.Table1 = newTable1(ShapeOf(original), r.Table1.After)
	r.Table2.Executions += executions
	r.LastGain += executions
	st := OperationStats{
		Operation: op, Beyond: true, Tried: executions, Executed: executions, Accepted: 1,
		Switches: r.Before.Switches - was.Switches, Preemptions: r.Before.Preemptions - was.Preemptions,
		Threads: r.Before.Threads - was.Threads, Events: r.Before.Events - was.Events,
	}
	if i := slices.IndexFunc(r.Operations, func(o OperationStats) bool { return o.Operation == op }); i >= 0 {
		r.Operations[i].add(st)
		return
	}
	r.Operations = slices.Insert(r.Operations, 0, st)
}
