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

// others are samplers that a default search does not use.
func others() []Sampler { return []Sampler{Delays{}} }

// Names returns the names that Parse accepts, in the order of Samplers, and then the others.
func Names() (names []string) {
	for _, s := range slices.Concat(Samplers(), others()) {
		names = append(names, s.String())
	}
	return names
}

// Parse is the inverse of String for the samplers of this package.
func Parse(name string) (Sampler, error) {
	for _, s := range slices.Concat(Samplers(), others()) {
		if s.String() == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("unknown strategy %q; want one of %s", name, strings.Join(Names(), ", "))
}

// Bounds limit an exhaustive search; nil means no bound.
type Bounds struct {
	Preemptions *int // of chess and dpor
	Delays      *int // of delay
}

// searches are the strategies that are not samplers, by name.
var searches = map[string]func(s Setting, b Bounds) Strategy{
	"chess":    func(s Setting, b Bounds) Strategy { return NewCHESS(s, bound(b.Preemptions)) },
	"ctrigger": func(s Setting, _ Bounds) Strategy { return NewCTrigger(s) },
	"dpor": func(s Setting, b Bounds) Strategy {
		if b.Preemptions != nil {
			return NewBoundedDPOR(s, *b.Preemptions)
		}
		return NewDPOR(s)
	},
	"feedback":      func(s Setting, _ Bounds) Strategy { return NewFeedback(s) },
	"race-directed": func(s Setting, _ Bounds) Strategy { return NewRaceDirected(s) },
	"surw":          func(s Setting, _ Bounds) Strategy { return NewSURW(s) },
	"urw":           func(s Setting, _ Bounds) Strategy { return NewURW(s) },
}

// bound returns a bound as CHESS takes it: negative for none.
func bound(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// SearchNames returns the names that ParseSearch accepts: those of the samplers first.
func SearchNames() []string { return append(Names(), slices.Sorted(maps.Keys(searches))...) }

// imply returns the names, or without any that of the strategy that a bound is for. It fails if a bound
// is invalid or the named strategies do not have it.
func (b *Bounds) imply(names []string) ([]string, error) {
	for _, x := range []struct {
		flag  string
		bound *int
		of    []string // the strategies that take it; the first one is implied
	}{
		{"--preemptions", b.Preemptions, []string{"chess", "dpor"}},
		{"--delays", b.Delays, []string{"delay"}},
	} {
		switch {
		case x.bound == nil:
		case *x.bound < 0:
			return nil, fmt.Errorf("invalid %s %d: want 0 or more", x.flag, *x.bound)
		case len(names) == 0:
			names = x.of[:1]
		case len(names) != 1 || !slices.Contains(x.of, names[0]):
			return nil, fmt.Errorf("%s bounds the strategy %s, and not %s", x.flag, strings.Join(x.of, " or "), strings.Join(names, ", "))
		}
	}
	return names, nil
}

// ParseSearch returns the constructor of the search with these names: a Portfolio of the named
// samplers; the one strategy of that name that is not a sampler; or, without a name, a Finishing with
// a Portfolio of all samplers. A bound on preemptions selects CHESS unless the name is dpor, and one on
// delays selects the enumeration of such schedules, which the name delay samples without one.
func ParseSearch(names []string, bounds Bounds) (func(Setting) Strategy, error) {
	names, err := bounds.imply(names)
	if err != nil {
		return nil, err
	}
	if n := bounds.Delays; n != nil {
		return func(s Setting) Strategy { return NewDelays(s, *n) }, nil
	}
	if len(names) == 0 {
		return func(s Setting) Strategy { return NewFinishing(s, NewPortfolio(s)) }, nil
	}
	for _, name := range names {
		if search := searches[name]; search != nil {
			if len(names) > 1 {
				return nil, fmt.Errorf("strategy %q does not take turns with others: name it alone", name)
			}
			return func(s Setting) Strategy { return search(s, bounds) }, nil
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
