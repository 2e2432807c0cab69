package strategy

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/schedule"
)

// POS is partial order sampling: Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV
// 2018. Each pending operation has a random priority and the enabled operation with the highest
// runs; operations that conflict with it then draw a new one. Where few operations conflict, it
// samples partial orders far more evenly than a random walk, which spends its decisions on pairs
// whose order does not matter.
type POS struct{}

func (POS) String() string { return "pos" }

// Plan ignores its arguments.
func (POS) Plan(*rand.Rand, Seen) schedule.Plan { return schedule.Plan{Policy: schedule.POS} }
