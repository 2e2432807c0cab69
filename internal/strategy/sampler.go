package strategy

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/heddle-dev/heddle/schedule"
)

// Sampler is a distribution over plans. Implementations are stateless values: their plans depend on
// the arguments alone.
type Sampler interface {
	// String returns the sampler's name, in lower case: "random", "pct", …
	String() string
	// Plan returns a plan with its policy and parameters; the caller fills in the rest (seed,
	// scheduling points, what to record). It draws from r, and the same draws give the same plan.
	Plan(r *rand.Rand, seen Seen) schedule.Plan
}

// Seen summarises earlier executions with the scheduling points of the next plan.
type Seen struct {
	// Points is the number of scheduling points in an execution, the largest seen or an estimate; 0
	// if unknown.
	Points int
	// Threads is the largest number of threads of an execution.
	Threads int
}

// points returns Points, or a guess if it is unknown.
func (s Seen) points() int {
	if s.Points > 0 {
		return s.Points
	}
	return 100
}

// Samplers returns the samplers of a default search, in the order of their turns.
func Samplers() []Sampler { return []Sampler{Random{}, PCT{}, Stay{}, POS{}} }

// Parse is the inverse of String for the samplers of this package.
func Parse(name string) (Sampler, error) {
	var names []string
	for _, s := range Samplers() {
		if s.String() == name {
			return s, nil
		}
		names = append(names, s.String())
	}
	return nil, fmt.Errorf("no strategy is called %q; there are %s", name, strings.Join(names, ", "))
}

// Source returns the random numbers of a search, determined by the seed.
func Source(seed uint64) *rand.Rand { return rand.New(source(seed)) }

func source(seed uint64) *rand.PCG { return rand.NewPCG(seed, 0x68656464) }
