package strategy

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/schedule"
)

// Random chooses among the enabled threads at each scheduling point with equal probability. It has
// no parameters, does well where few scheduling points matter, and is the baseline for the others.
//
// Where no thread spins or yields, a schedule's probability is the product of 1/(enabled threads) over
// its decisions. Schedules are therefore not equally likely: the sooner threads end, the fewer
// decisions are left to draw.
type Random struct{}

func (Random) String() string { return "random" }

// Plan ignores its arguments.
func (Random) Plan(*rand.Rand, Seen) schedule.Plan {
	return schedule.Plan{Policy: schedule.Random}
}
