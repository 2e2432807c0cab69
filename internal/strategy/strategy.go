// Package strategy decides which executions of a program to try next.
//
// A Strategy is a search. It makes plans and observes the outcome of each, with the recording if
// the plan requested one. It may be anything from random sampling, which ignores outcomes, to an
// exhaustive search, whose next plan is a prefix of decisions taken from the last recording. The
// runtime does the scheduling itself: it follows a plan's script and then one of a few policies,
// without contacting the strategy between two steps of the program. This is the division of
// Shuttle's schedulers with the inner loop moved into the program.
//
// A Sampler is the simple case, a distribution over plans without memory: random walk, PCT, POS.
// Portfolio is a Strategy that takes turns among samplers.
//
// # The order of calls
//
// The loop (package engine) makes the first execution itself, under the fair policy and with
// nothing omitted, because the program's undisturbed behaviour is the standard by which all others
// are judged. The strategy observes it before anything else. After that
//
//   - the loop calls Next until it returns false or Window plans are in flight, that is, given
//     out and not wholly observed;
//   - it calls Observe for the executions in the order in which their plans were given out, those
//     of one plan by index, whatever the order in which workers finish them;
//   - it calls Next again whenever a plan has been observed to its end.
//
// The order of calls therefore follows from the strategy and from outcomes alone, never from time
// or the number of workers. A strategy that draws only from the seed of its Setting makes the same
// plans every time. One that needs the outcomes of all its plans first returns false until it has
// them. When Next returns false while nothing is in flight, the search is complete.
package strategy

import (
	"encoding"
	"math/bits"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Window is how many plans may be in flight. It does not depend on the number of workers, which
// would change the order in which strategies see outcomes.
const Window = 256

// Strategy is a search over the executions of one program. Its methods are called from one
// goroutine at a time, in the order that the package comment defines.
type Strategy interface {
	// String returns the strategy's name, in lower case, with the parameters that a saved state
	// depends on.
	String() string

	// Next returns the next plan. It returns false if the strategy must observe another outcome
	// first. left is how many executions may still be made besides those in flight, negative
	// for any number; a plan with more is cut. Next may be called with left 0, and then returns
	// false.
	Next(left int) (Request, bool)

	// Observe shows the strategy one execution. What o points to, except the trace, is valid until
	// Observe returns.
	Observe(o *Observation)

	// Stage reports the progress of the search.
	Stage() Stage

	// MarshalBinary returns the strategy's state, which includes plans in flight only as far as
	// later calls of Observe need them. UnmarshalBinary loads the state into a fresh strategy
	// made with the same Setting, which then makes the plans that the first would have made.
	// See Save, which adds what a reader must check.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Setting is fixed for a whole search.
type Setting struct {
	// Build identifies the built program: sites are meaningless for another one.
	Build string
	Seed  uint64
	// Points are memory instructions that are scheduling points from the start.
	Points []trace.Site
	// RacesFail says that a race is a failure, so that more executions should be recorded.
	RacesFail bool
	// NoEarlyTimeouts excludes plans with early time-outs.
	NoEarlyTimeouts bool
}

// FirstSeed returns the seed of the first execution. Strategies that give each execution its own
// seed count up from it.
func (s *Setting) FirstSeed() uint64 { return bits.RotateLeft64(s.Seed, 32) }

// Request is a plan and what the strategy wants to learn from it.
type Request struct {
	// Plan has what the strategy decides: policy, script, seed, number of executions,
	// scheduling points, early time-outs and what is recorded. The loop fills in what all plans
	// of a search share: Tag, MaxSteps, ExpectStatus, Stop, Delays, Spurious and Haste. A
	// script that need not reach the end of the execution is followed with schedule.Tolerant;
	// its outcome counts the deviations.
	Plan schedule.Plan
	// Observe requests Observation.Seen. The worker decides how its target is watched: it
	// records the plan, with the accesses that are not scheduling points, if the plan requires
	// that or if the target must send its accesses.
	Observe bool
	// Key is the strategy's own identifier of the plan, returned with the outcomes. It is not
	// negative.
	Key int
}

// First is the Key of the first execution, which the loop plans.
const First = -1

// FirstRequest returns the plan of the program's undisturbed execution.
func FirstRequest(s *Setting) Request {
	return Request{Key: First, Observe: true, Plan: schedule.Plan{
		Policy: schedule.Fair, Seed: s.FirstSeed(), Repeat: 1, Points: s.Points, Record: true,
	}}
}

// Observation is one execution as a strategy sees it.
type Observation struct {
	Request *Request
	// Index is the execution's number in the plan, from 0. Last marks the plan's last one: a plan
	// ends early if the loop or the program stops it.
	Index int
	Last  bool
	// Outcome is judged: its kind says whether the execution is a failure. A failure that cannot be
	// reproduced is observed like any other, and the search continues. Outcome is nil if the plan
	// ended before this execution was made; Last is true then.
	Outcome *schedule.Outcome
	// Seen is what the execution showed; nil if the plan did not request it or the execution
	// could not be watched to its end.
	Seen *observe.Observation
	// New says that no earlier execution ordered conflicting operations in the same way.
	New bool
}

// Stage is the progress of a search.
type Stage struct {
	Round  int // number of the round of plans; 0 before the first, or without rounds
	Points int // memory instructions that are scheduling points in this round
	// Waiting is the number of memory instructions that become scheduling points in the next round.
	Waiting int
}
