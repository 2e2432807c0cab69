// Package strategy turns what was seen of a program into plans for exploring its
// schedules.
//
// The scheduling itself is done by the runtime, which knows a handful of policies; a
// strategy chooses one and its parameters, execution by execution or for a batch. The
// division is that of Shuttle's schedulers with the inner loop moved into the program:
// nothing is asked between two steps.
package strategy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Seen is what earlier executions showed, under the scheduling points that the next plan
// will have.
type Seen struct {
	// Points is the number of scheduling points that an execution passes, the largest
	// seen or an estimate; 0 is not known.
	Points int
	// Threads is the largest number of threads of an execution.
	Threads int
}

// points is Points, or a guess where it is not known.
func (s Seen) points() int {
	if s.Points > 0 {
		return s.Points
	}
	return 100
}

// Strategy makes plans. Implementations are values that hold no state: what they choose
// depends on the arguments alone.
type Strategy interface {
	// String is the strategy's name, in lower case: "random", "pct", …
	String() string
	// Plan returns a plan with its policy and parameters; the rest (seed, points, what to
	// record) is the caller's. It draws from r, and the same draws give the same plan.
	Plan(r *rand.Rand, seen Seen) schedule.Plan
}

// Portfolio is what find uses when not told otherwise, in the order of its turns.
func Portfolio() []Strategy { return []Strategy{Random{}, PCT{}, Stay{}, POS{}} }

// Parse is the inverse of String for the strategies of this package.
func Parse(name string) (Strategy, error) {
	var names []string
	for _, s := range Portfolio() {
		if s.String() == name {
			return s, nil
		}
		names = append(names, s.String())
	}
	return nil, fmt.Errorf("no strategy is called %q; there are %s", name, strings.Join(names, ", "))
}

// Describe says how a plan schedules, for a trace's header: "pct depth=3 length=120
// seed=17".
func Describe(p schedule.Plan) string {
	s := p.Policy.String()
	switch {
	case p.Policy == schedule.Random && p.Stay > 0:
		s += fmt.Sprintf(" stay=%.4f", p.Stay)
	case p.Policy == schedule.PCT:
		s += fmt.Sprintf(" depth=%d length=%d", p.Depth, p.Length)
	}
	if p.Delays == schedule.AnyDelays {
		s += " " + anyDelays
	}
	return fmt.Sprintf("%s seed=%d", s, p.Seed)
}

const anyDelays = "early-timeouts"

// DelaysOf is what a plan that continues or varies a recorded execution may have for Delays:
// nothing overtakes if nothing did there, and otherwise no more than where it was found.
func DelaysOf(t *trace.Trace) schedule.Delays {
	switch {
	case t.Overtakings() == 0:
		return schedule.NoDelays
	case slices.Contains(strings.Fields(t.Header.Strategy), anyDelays):
		return schedule.AnyDelays
	}
	return schedule.ShortDelays
}

var seedIn = regexp.MustCompile(`\bseed=([0-9]+)`)

// SeedOf is the seed that a description (see Describe) names. A program that draws random
// numbers from heddle repeats only with the seed it was recorded with.
func SeedOf(description string) (uint64, bool) {
	m := seedIn.FindStringSubmatch(description)
	if m == nil {
		return 0, false
	}
	seed, err := strconv.ParseUint(m[1], 10, 64)
	return seed, err == nil
}

// Unseeded is a description without the seed of its plan, which no command takes: that of the
// search leads to it.
func Unseeded(description string) string {
	return strings.TrimSpace(seedIn.ReplaceAllString(description, ""))
}
