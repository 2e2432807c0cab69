package strategy

import (
	"math"
	"math/rand/v2"

	"github.com/heddle-dev/heddle/schedule"
)

// Stay is a random walk that mostly stays with the running thread. A plain random walk switches
// threads so often that it misses bugs that need one thread to run a long way while another is
// stopped; here the intervals between preemptions are long.
//
// Their best length is unknown, so each plan draws the mean length of an interval with equal weight
// for every order of magnitude, from 2 scheduling points to half of an execution.
type Stay struct{}

func (Stay) String() string { return "stay" }

// Plan draws the mean interval.
func (Stay) Plan(r *rand.Rand, seen Seen) schedule.Plan {
	const shortest = 2
	longest := math.Max(shortest, float64(seen.points())/2)
	mean := shortest * math.Exp(r.Float64()*math.Log(longest/shortest))
	return schedule.Plan{Policy: schedule.Random, Stay: 1 - 1/mean}
}
