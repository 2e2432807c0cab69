package tinertia

import (
	"iter"
	"math"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// candidate is one script worth executing. Candidates are data. Until one is accepted, a
// generator's sequence does not depend on whether the oracle accepted earlier candidates (except
// through next). So several can be validated concurrently as long as the first acceptable one wins.
type candidate struct {
	op      Operation
	script  []schedule.Step
	threads []trace.Thread // names for script; nil means the current execution's
	// bound is the maximum number of context switches of its execution.
	bound int
	// equal accepts an execution of equal Cost if it was never current before.
	equal bool
	// resume is the position at which the pass continues after the candidate is accepted.
	resume int
	// next returns further candidates after this one was executed and rejected. It receives the
	// trace of the rejected execution, and is not called if memory has dropped that trace.
	next func(rejected *trace.Trace) []candidate
}

// unbounded is the bound of operations beyond the paper, which must lower Cost instead.
const unbounded = math.MaxInt

// generator yields candidates for the current execution from a position on. Each generator defines
// what a position means. A position past the end means the end.
type generator func(q *sequence, at int) iter.Seq[candidate]

// splice joins parts of scripts into a new one.
func splice(parts ...[]schedule.Step) []schedule.Step {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	out := make([]schedule.Step, 0, n)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
