// Package strategy decides which executions of a program to try next.
//
// A Strategy is a search. It makes plans and sees the outcome of each, with the recording where
// its plan asked for one, and so may be anything from random sampling, which looks at nothing, to
// an exhaustive search, whose next plan is a prefix of decisions taken from the last recording. The
// scheduling itself is done by the runtime, which follows a plan's script and then one of a handful of
// policies: nothing is asked between two steps of the program. This is the division of Shuttle's
// schedulers with the inner loop moved into the program.
//
// A Sampler is the simple case, a distribution over plans without memory: random walk, PCT, POS.
// Portfolio is a Strategy that takes turns among samplers.
//
// # The order of calls
//
// The loop (package engine) makes the first execution itself, under the fair policy and with
// nothing left out, because what the program does when left alone decides how all others are
// judged. The strategy observes it before anything else. After that
//
//   - the loop calls Next until it returns false or Window plans are in flight, which is: given
//     out and not wholly observed;
//   - it calls Observe for the executions in the order in which their plans were given out, those
//     of one plan by index, whatever the order in which workers finish them;
//   - it calls Next again whenever a plan has been observed to its end.
//
// So the order of calls follows from the strategy and from outcomes alone, never from time or
// from the number of workers. A strategy that draws from the seed of its Setting and from nothing
// else makes the same plans every time. One that needs the outcomes of all its plans before it
// goes on returns false until it has them. When Next returns false while nothing is in flight, the
// search is complete.
package strategy

import (
	"encoding"
	"math/bits"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Window is how many plans may be in flight. It does not depend on the number of workers, or
// strategies would see outcomes in another order with more of them.
const Window = 256

// Strategy is a search over the executions of one program. Its methods are called from one
// goroutine at a time, in the order that the package comment gives.
type Strategy interface {
	// String returns the strategy's name, in lower case, with the parameters that a saved
	// state depends on.
	String() string

	// Next returns the next plan. It returns false if the strategy must observe another outcome
	// first. left is how many executions may still be made besides those in flight, negative
	// for any number; a plan that asks for more is cut. Next may be called with left 0, and
	// then returns false.
	Next(left int) (Request, bool)

	// Observe shows the strategy one execution. What o points to is valid until Observe
	// returns, except the trace.
	Observe(o *Observation)

	// Stage tells how far the search has come, for reports.
	Stage() Stage

	// MarshalBinary returns the strategy's state, of which plans in flight are a part only as
	// far as later calls of Observe need it. UnmarshalBinary gives the state to a strategy that
	// was made with the same Setting and has not been used; it then makes the plans that the
	// first would have made. See Save, which adds what a reader has to check.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Setting is what holds for a whole search.
type Setting struct {
	// Build identifies the program that was built: sites mean nothing to another one.
	Build string
	Seed  uint64
	// Points are memory instructions that are scheduling points from the start.
	Points []trace.Site
	// RacesFail says that a race is a failure, and that more executions should be recorded.
	RacesFail bool
	// NoEarlyTimeouts rules out plans that let time-outs come early.
	NoEarlyTimeouts bool
}

// FirstSeed returns the seed of the first execution. Strategies that give each execution a seed
// of its own count on from there.
func (s *Setting) FirstSeed() uint64 { return bits.RotateLeft64(s.Seed, 32) }

// Request is a plan with what the strategy wants of it.
type Request struct {
	// Plan has what the strategy decides: policy, script, seed, number of executions, points,
	// early time-outs and what is recorded. The loop fills in what all plans of a search have in
	// common: Tag, MaxSteps, ExpectStatus, Stop, Delays, Spurious and Haste. A script that need
	// not reach to the end of the execution is followed with schedule.Tolerant; deviations from
	// it are counted in the outcome.
	Plan schedule.Plan
	// Observe asks for Observation.Seen. It is for plans that are recorded.
	Observe bool
	// Key is the strategy's own name for the plan, and comes back with the outcomes. It is not
	// negative.
	Key int
}

// First is the Key of the first execution, which the loop plans.
const First = -1

// FirstRequest returns the plan that shows what the program does when left alone.
func FirstRequest(s *Setting) Request {
	return Request{Key: First, Observe: true, Plan: schedule.Plan{
		Policy: schedule.Fair, Seed: s.FirstSeed(), Repeat: 1, Points: s.Points, Record: true, Accesses: true,
	}}
}

// Observation is one execution as a strategy sees it.
type Observation struct {
	Request *Request
	// Index says which of the executions of the plan it is, from 0, and Last that it is the
	// last one: a plan ends early where the loop or the program stops it.
	Index int
	Last  bool
	// Outcome is judged: its kind says whether the execution is a failure. A failure that does
	// not come again is observed like any other, and the search goes on. It is nil where the
	// plan ended before this execution was made; Last is true then.
	Outcome *schedule.Outcome
	// Seen is what the execution showed; nil if the plan did not ask for it, or if the
	// execution could not be recorded.
	Seen *observe.Observation
	// New says that no execution before has ordered conflicting operations in the same way.
	New bool
}

// Stage is how far a search has come.
type Stage struct {
	Round  int // of plans that were made at once; 0 if none was, or if there are no rounds
	Points int // memory instructions that are scheduling points in this round
	// Waiting are memory instructions that will be scheduling points in the next round.
	Waiting int
}
