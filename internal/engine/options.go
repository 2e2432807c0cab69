package engine

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Options of Find. The zero value explores until something is found or the context ends.
type Options struct {
	Seed uint64
	// Runs bounds the executions of the exploration, 0 for no bound. What has been found is
	// still confirmed and simplified.
	Runs int
	// Time bounds the whole: exploration, confirmation and simplification; 0 for no bound.
	// The first execution may outlast it while it gives no sign of life, until the target's
	// watchdog has judged it, and confirmation by Grace.
	Time time.Duration
	// Stale ends the exploration when so many executions in a row, and half of all, have
	// shown no behaviour that was not seen before; 0 for never. Rounds are finished.
	Stale int
	// Samplers take turns in a strategy.Portfolio; nil for strategy.Samplers.
	Samplers []strategy.Sampler
	// Search makes another search than that portfolio; nil for the portfolio.
	Search func(strategy.Setting) strategy.Strategy
	// Workers carry out the exploration's plans; nil for the target alone. Failures are
	// confirmed and simplified in the target, while the workers do nothing. What is found does not
	// depend on how many there are.
	Workers []Worker

	// Save is given the state of an exploration that found nothing and was ended by Time or
	// Runs, or interrupted, after at least one execution; nil if nobody wants it.
	Save func(state []byte) error
	// Resume goes on with the exploration of such a state, with the same program and options but
	// for Time, Runs and Workers; otherwise Find fails with a strategy.ErrState. Races and leaks seen
	// before are not reported again.
	Resume []byte
	// ExpectStatus is the exit status of a good execution, nil for that of the first.
	ExpectStatus *int32
	// Points are memory instructions to have as scheduling points from the start.
	Points []trace.Site
	// MaxSteps is the step budget of an execution, 0 for the target's own.
	MaxSteps int

	// Time-outs, sleeps and timers may end before their time, and so delay threads that could
	// run, for schedule.Slack in all. NoEarlyTimeouts rules that out, EarlyTimeouts lifts
	// the bound.
	NoEarlyTimeouts bool
	EarlyTimeouts   bool

	// RacesFail makes an execution that ends well, and whose recorded accesses race, a
	// finding of kind trace.Race. Every recorded execution is looked at, and more are
	// recorded where that is cheap.
	RacesFail bool
	// LeakFails makes a goroutine that a test left a failure, if nothing worse is found. Nil: it
	// is none, and Report.Leaks has it.
	LeakFails func(Leak) bool
	// StopWhenSequential ends the exploration after the first execution if nothing of it
	// could have been otherwise (Report.Sequential).
	StopWhenSequential bool
	// Spurious lets condition and futex waits end without a waker.
	Spurious bool

	// Keep writes a trace, each as soon as it is there, and returns the name of the file.
	// original is empty for the execution as it was found and the name of its file for the
	// simplified one. Nil for nowhere.
	Keep func(t *trace.Trace, original string) (string, error)
	// NoSimplify ends with the confirmed trace.
	NoSimplify bool
	Simplify   SimplifyOptions

	// Where names a place in the program for the report; exact says that it is the
	// instruction itself and not where a call returns to. Nil for module and offset.
	Where func(s trace.Site, exact bool) string
	// Objects names an object of a trace as it was at an event. Nil for region and offset.
	Objects func(t *trace.Trace, o trace.Object, size uint32, at int) string
}

func (o *Options) delays() schedule.Delays {
	switch {
	case o.NoEarlyTimeouts:
		return schedule.NoDelays
	case o.EarlyTimeouts:
		return schedule.AnyDelays
	}
	return schedule.ShortDelays
}

// SimplifyOptions bound a simplification.
type SimplifyOptions struct {
	Executions int           // 0 for the simplifier's own bound
	Time       time.Duration // 0 for none
	MaxSteps   int           // step budget of an execution, 0 for the target's own
	// NoStatic begins with the recorded execution itself and not with its independent
	// operations reordered.
	NoStatic bool
	// Where is as in Options, whose own goes with a search.
	Where func(s trace.Site, exact bool) string
}

// Progress is called at most ten times a second while Find or Simplify works. It is called from one
// goroutine at a time, at most some times a second apart from changes of Phase.
type Progress struct {
	Phase      Phase
	Executions int // of this phase and those before
	PerSecond  float64
	Behaviours int // distinct orders of conflicting operations seen
	Points     int // memory instructions that are scheduling points
	Round      int
	Elapsed    time.Duration
	// Cost is that of the simplest failing execution so far, while simplifying.
	Cost *trace.Cost
}

// Phase is what a search is doing.
type Phase string

const (
	Exploring   Phase = "explore"
	Confirming  Phase = "confirm"
	Simplifying Phase = "simplify"
)

// where is Options.Where or its default.
func where(named func(trace.Site, bool) string, modules []trace.Module, s trace.Site, exact bool) string {
	if named != nil {
		return named(s, exact)
	}
	return place(modules, s)
}

// place is a site as module and offset.
func place(modules []trace.Module, s trace.Site) string {
	m := s.Module()
	switch {
	case s == 0:
		return "an unknown place"
	case m >= 0 && m < len(modules):
		return fmt.Sprintf("%s+%#x", filepath.Base(modules[m].Path), s.Offset())
	default:
		return fmt.Sprintf("module %d+%#x", m, s.Offset())
	}
}
