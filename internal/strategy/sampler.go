package strategy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// Names returns the names that Parse accepts, in the order of Samplers.
func Names() (names []string) {
	for _, s := range Samplers() {
		names = append(names, s.String())
	}
	return names
}

// Parse is the inverse of String for the samplers of this package.
func Parse(name string) (Sampler, error) {
	for _, s := range Samplers() {
		if s.String() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("unknown strategy %q; want one of %s", name, strings.Join(Names(), ", "))
}

// searches are the strategies that are not samplers, by name. preemptions is CHESS's bound, negative
// for none.
var searches = map[string]func(s Setting, preemptions int) Strategy{
	"chess":         func(s Setting, preemptions int) Strategy { return NewCHESS(s, preemptions) },
	"ctrigger":      func(s Setting, _ int) Strategy { return NewCTrigger(s) },
	"dpor":          func(s Setting, _ int) Strategy { return NewDPOR(s) },
	"feedback":      func(s Setting, _ int) Strategy { return NewFeedback(s) },
	"race-directed": func(s Setting, _ int) Strategy { return NewRaceDirected(s) },
}

// SearchNames returns the names that ParseSearch accepts: those of the samplers first.
func SearchNames() []string { return append(Names(), slices.Sorted(maps.Keys(searches))...) }

// ParseSearch returns the constructor of the search with these names: a Portfolio of the named
// samplers; the one strategy of that name that is not a sampler; or, without a name, a Finishing with
// a Portfolio of all samplers. preemptions is CHESS's bound, and selects CHESS; nil means no bound.
func ParseSearch(names []string, preemptions *int) (func(Setting) Strategy, error) {
	bound := -1
	if preemptions != nil {
		bound = *preemptions
		switch {
		case bound < 0:
			return nil, fmt.Errorf("invalid --preemptions %d: want 0 or more", bound)
		case len(names) == 0:
			names = []string{"chess"}
		case len(names) != 1 || names[0] != "chess":
			return nil, fmt.Errorf("--preemptions bounds the strategy chess, and not %s", strings.Join(names, ", "))
		}
	}
	if len(names) == 0 {
		return func(s Setting) Strategy { return NewFinishing(s, NewPortfolio(s)) }, nil
	}
	for _, name := range names {
		if search := searches[name]; search != nil {
			if len(names) > 1 {
				return nil, fmt.Errorf("strategy %q does not take turns with others: name it alone", name)
			}
			return func(s Setting) Strategy { return search(s, bound) }, nil
		}
	}
	var samplers []Sampler
	for _, name := range names {
		s, err := Parse(name)
		if err != nil {
			return nil, fmt.Errorf("unknown strategy %q; want one of %s", name, strings.Join(SearchNames(), ", "))
		}
		samplers = append(samplers, s)
	}
	return func(s Setting) Strategy { return NewPortfolio(s, samplers...) }, nil
}

// Source returns the random numbers of a search, determined by the seed.
func Source(seed uint64) *rand.Rand { return rand.New(source(seed)) }

func source(seed uint64) *rand.PCG { return rand.NewPCG(seed, 0x68656464) }
