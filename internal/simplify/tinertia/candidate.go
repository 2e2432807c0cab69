package tinertia

import (
	"iter"
	"math"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// candidate is one script worth executing. Candidates are data, and a generator's
// sequence does not depend on the verdicts on its earlier candidates until one is
// accepted (except through next), so several can be validated at the same time as long
// as the first acceptable one wins.
type candidate struct {
	op      Operation
	script  []schedule.Step
	threads []trace.Thread // names for script; nil: the current execution's
	// bound is the most context switches its execution may have.
	bound int
	// equal permits an execution of equal Cost that was never current before.
	equal bool
	// resume is where the pass goes on once the candidate was accepted.
	resume int
	// next proposes what to try instead once the candidate was executed and rejected.
	// The trace is the rejected execution's; next is not called where it is no longer
	// at hand.
	next func(rejected *trace.Trace) []candidate
}

// unbounded is the bound of operations beyond the paper: they must lower Cost instead.
const unbounded = math.MaxInt

// generator proposes candidates for the current execution from a position on; what a
// position is, is the generator's own business. A position past the end means the end.
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
