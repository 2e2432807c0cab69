package strategy

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/schedule"
)

// Random chooses any enabled thread at each scheduling point, all with the same
// probability. It has no parameters, does well where few points matter, and is what the
// others are measured against.
type Random struct{}

func (Random) String() string { return "random" }

// Plan ignores its arguments.
func (Random) Plan(*rand.Rand, Seen) schedule.Plan {
	return schedule.Plan{Policy: schedule.Random}
}
