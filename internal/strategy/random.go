package strategy

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/schedule"
)

// Random chooses among the enabled threads at each scheduling point with equal probability. It has
// no parameters, does well where few scheduling points matter, and is the baseline for the others.
type Random struct{}

func (Random) String() string { return "random" }

// Plan ignores its arguments.
func (Random) Plan(*rand.Rand, Seen) schedule.Plan {
	return schedule.Plan{Policy: schedule.Random}
}
