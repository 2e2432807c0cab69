package engine

import (
	"math"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// A correct program may pass any number of scheduling points. So unless the user sets a budget, an execution that has not ended
// within usualSteps runs again with firstSteps (search.long), and what follows or varies an execution gets roomSteps times what
// that took. A long program then does not look as if it would not end.
const (
	firstSteps = 1 << 23
	usualSteps = abi.MaxSteps // the budget where a plan names none
	roomSteps  = 8
	mostSteps  = math.MaxInt32
)

// room returns the step budget of executions that are like one of so many scheduling points, but may be longer.
func room(points int) int { return min(max(usualSteps, roomSteps*points), mostSteps) }

// stepsFor returns the step budget of an execution that repeats or varies a recorded one, with points as its scheduling
// points among memory instructions.
func stepsFor(recorded *trace.Trace, points []trace.Site) int {
	at := make(map[trace.Site]bool, len(points))
	for _, s := range points {
		at[s] = true
	}
	n, accesses := 0, false
	for i := range recorded.Events {
		e := &recorded.Events[i]
		switch {
		case e.Flags&trace.FlagNoDecision == 0:
			n++
		case e.Op.IsAccess() || e.Op == trace.OpFree:
			accesses = true
			if at[e.Site] {
				n++
			}
		}
	}
	if !accesses && len(points) > len(recorded.Header.Points) { // how often they are executed is not known
		return max(room(n), firstSteps)
	}
	return room(n)
}
