package strategy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Describe returns how a plan schedules, for a trace's header: "pct depth=3 length=120 seed=17".
func Describe(p schedule.Plan) string {
	s := p.DescribePolicy()
	if p.Mode == schedule.Strict {
		s = fmt.Sprintf("%s after %d decisions", s, len(p.Script))
	}
	if n := p.Turns; n.Visits > 0 {
		s += fmt.Sprintf(" turns=%d from=%d after=%d", n.Visits, n.From, n.After)
	}
	switch p.Delays {
	case schedule.AnyDelays:
		s += " " + anyDelays
	case schedule.BriefDelays:
		s += " " + briefDelays
	}
	if p.Seed&schedule.Comparable != 0 {
		s += " " + fixedHashes
	}
	return fmt.Sprintf("%s seed=%d", s, p.Seed&^schedule.Comparable)
}

const (
	anyDelays   = "early-timeouts"
	briefDelays = "early-timeouts=1ms"
	fixedHashes = "fixed-hashes" // schedule.Comparable
)

// DelaysOf returns Delays for a plan that continues or varies a recorded execution: no overtaking
// if none occurred there, and otherwise no more than allowed where the execution was found.
func DelaysOf(t *trace.Trace) schedule.Delays {
	switch {
	case t.Overtakings() == 0:
		return schedule.NoDelays
	case slices.Contains(strings.Fields(t.Header.Strategy), anyDelays):
		return schedule.AnyDelays
	case slices.Contains(strings.Fields(t.Header.Strategy), briefDelays):
		return schedule.BriefDelays
	}
	return schedule.ShortDelays
}

var seedIn = regexp.MustCompile(`\bseed=([0-9]+)`)

// SeedOf returns the seed in a description (see Describe). A program that draws random numbers from
// heddle repeats only with the seed it was recorded with.
func SeedOf(description string) (uint64, bool) {
	m := seedIn.FindStringSubmatch(description)
	if m == nil {
		return 0, false
	}
	seed, err := strconv.ParseUint(m[1], 10, 64)
	if slices.Contains(strings.Fields(description), fixedHashes) {
		seed |= schedule.Comparable
	}
	return seed, err == nil
}

// Unseeded returns a description without the seed of its plan, which no command accepts: users give
// the seed of the search.
func Unseeded(description string) string {
	return strings.TrimSpace(seedIn.ReplaceAllString(strings.ReplaceAll(description, fixedHashes+" ", ""), ""))
}
