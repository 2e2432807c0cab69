package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/oracle"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// search is the state of one call of Find.
type search struct {
	target   target.Target
	workers  []Worker
	squad    squad
	opts     *Options
	report   *Report
	progress func(Progress)
	began    time.Time
	due      atomic.Bool // progress may be reported again

	setting  strategy.Setting
	shaping  savedOptions // the options as given
	strategy strategy.Strategy
	stage    strategy.Stage
	flight   flight
	pace     time.Duration        // of an execution on a worker, 0 until known
	beyond   []strategy.InFlight  // plans, or parts of them, for which Options.Runs leaves no room: saved, not executed
	seen     strategy.Observation // of the current execution
	expect   int32
	outputs  *oracle.Oracle
	roomy    bool // heddle chooses the step budget (budget.go)
	// endlessly is that an execution did not end with the largest budget, either (endless.go).
	endlessly bool
	longest   int  // most scheduling points of an execution that ended
	quiet     int  // most quiet stretches of an execution that ended
	patient   bool // every plan says when the fair phase begins: an execution made no progress for long, and ended (budget.go)
	// memoryBudget is the step budget of plans with memory instructions, 0 until an execution needed more than
	// the user allows (budget.go).
	memoryBudget int
	behaviours   behaviours
	cuts         cuts
	effort       *effort // nil unless Options.Explain
	races        map[[2]race.Access]raced
	doubts       map[[2]race.Access]int // executions that were repeated, but had no certain race
	held         heldRace
	turnBefore   time.Duration // FindRaces: from the beginning, after which no more races are turned
	turns        bool          // FindRaces
	cut          bool          // the output of some execution was truncated
	leaks        leaks
	aside        aside
	brief        bool                // no timer fires earlier than by schedule.Brief any longer (early.go)
	endSooner    func(share float64) // ends the exploration after this part of Options.Time
	isolates     bool                // the target is a target.Isolator
	compared     bool                // the first plan was run in a new process, too, or need not be
	anew         bool                // the search has begun again with new processes (twice.go)
	relaxed      relaxed
	setUp        setUp
	wide         wide
	external     bool // some execution depended on external nondeterminism
}

func newSearch(t target.Target, opts Options, progress func(Progress)) *search {
	s := &search{
		target: t, workers: opts.Workers, opts: &opts, progress: progress, began: time.Now(),
		report: &Report{Races: []Race{}, Instrumented: t.Header().Instrumented},
		setting: strategy.Setting{
			Build: t.Header().BuildID, Seed: opts.Seed, Points: slices.Compact(slices.Sorted(slices.Values(opts.Points))),
			RacesFail: opts.Races == RacesFail || opts.WatchMore, NoEarlyTimeouts: opts.NoEarlyTimeouts,
		},
		shaping:    opts.shaping(),
		behaviours: newBehaviours(), cuts: cuts{Yields: -1}, races: map[[2]race.Access]raced{}, doubts: map[[2]race.Access]int{}, aside: newAside(&opts),
	}
	h := t.Header()
	s.outputs = outputsOf(&h)
	_, s.isolates = target.As[target.Isolator](t)
	if len(s.workers) == 0 {
		s.workers = []Worker{Local(t)}
	}
	if opts.Explain {
		s.effort = &effort{}
	}
	s.strategy = s.newStrategy()
	s.stage = s.strategy.Stage()
	s.due.Store(true)
	if opts.ExpectStatus != nil {
		s.expect = *opts.ExpectStatus
	}
	return s
}

func (s *search) newStrategy() strategy.Strategy {
	if s.opts.Search != nil {
		return s.opts.Search(s.setting)
	}
	return strategy.NewPortfolio(s.setting)
}

// maxNotes bounds the notes in Report.Notes about failures that did not reproduce.
const maxNotes = 10

// Find explores the target's schedules until an execution fails, then confirms, simplifies and
// reports that failure. With Options.All it continues after the failure until the search reaches
// its bounds; findings that Options.Ignore names do not end it and are only counted.
//
// The report is never nil: if Find is interrupted or fails, the report has the results so far. A
// failure that was seen is always in it, with Finding.Confirmed false if it could not be confirmed.
// The error is nil if a bug was found, if nothing was found, and if no execution ended in time. It
// is the context's if that ended first, an *UnsupportedError if heddle does not support the
// program, and otherwise the error of the target or of writing a trace.
func Find(ctx context.Context, t target.Target, opts Options, progress func(Progress)) (*Report, error) {
	return newSearch(t, opts, progress).run(ctx)
}

// run is Find.
func (s *search) run(ctx context.Context) (*Report, error) {
	if !s.report.Instrumented {
		s.note("accesses to memory are not seen: only synchronisation can be controlled; compile with heddle cc to see data races")
	}
	err := s.find(ctx)
	if rerr := s.reportRace(ctx); err == nil {
		err = rerr
	}
	if err == nil && s.turns {
		err = s.turn(ctx)
	}
	if err == nil {
		err = s.reportLeaks(ctx)
	}
	r := s.report
	s.totals()
	r.Seconds = time.Since(s.began).Seconds()
	if r.Seconds > 0 {
		r.PerSecond = float64(r.Executions) / r.Seconds
	}
	r.Rounds, r.Behaviours, r.Points, r.ExpectStatus = s.stage.Round, s.behaviours.len(), s.stage.Points, s.expect
	s.settleRaces(ctx)
	r.Races = s.named()
	if slices.ContainsFunc(r.Races, func(x Race) bool { return x.Unconfirmed }) {
		r.RacesUnconfirmed = blamed(s.target, s.opts.Untold)
	}
	r.Cut, r.InTurns, r.Length = s.cuts.report(), s.cuts.InTurns, s.cuts.Long
	r.Coverage = s.coverage()
	if c := r.Coverage; r.Ended == Complete && c != nil && c.Complete && c.Reduced && c.Preemptions < 0 {
		// The executions with fewer scheduling points have other signatures, and no other behaviours.
		r.Behaviours = c.Behaviours
	}
	unhooked := s.unhooked()
	if unhooked != "" {
		s.note("%s: heddle does not see what such code does; it may report races of what the code orders, and miss failures", unhooked)
	}
	if r.Ended != Sequential {
		r.Relaxed = s.relaxed.report(s.locate)
	}
	r.SetUp = s.setUp.report(s.locate)
	r.Search = s.effort.all(s.strategy)
	if estimate, below, ok := s.behaviours.unseen(); ok && r.Ended != Sequential && r.Ended != Complete && unhooked == "" {
		r.Unseen = &Unseen{Estimate: estimate}
		if estimate == 0 {
			r.Unseen.Below = below
		}
	}
	switch {
	case r.Finding != nil:
		r.Outcome = Bug
		switch {
		case !s.opts.All && r.Finding != s.held.finding:
			r.Ended = ByFailure
		case ctx.Err() != nil:
			r.Ended = ByInterrupt
		case err != nil:
			r.Ended = ByError
		}
	case err == nil && (r.Executions == 0 || r.Unfinished != nil):
		r.Outcome = Unfinished
	case err == nil && r.Masked == r.Executions:
		r.Outcome = OnlyIgnored
	case err == nil && r.Cut != nil && r.Cut.Executions+r.Masked >= r.Executions:
		r.Outcome = OnlyCut
	case err == nil && r.NotReproduced > 0:
		r.Outcome = Unreproduced
	case err == nil && s.opts.Races == RacesFail && len(r.RacesUnconfirmed) > 0:
		r.Outcome = Unconfirmed
	case err == nil && !r.Instrumented && !s.opts.SyncOnly && r.Ended != Sequential:
		r.Outcome = Unhooked
	case err == nil:
		r.Outcome = Nothing
	case ctx.Err() != nil:
		r.Outcome, r.Ended = Interrupted, ByInterrupt
	default:
		r.Outcome, r.Ended = Failed, ByError
	}
	if s.opts.Save != nil && r.Executions > 0 && (r.Ended == ByTime || r.Ended == ByRuns || r.Ended == ByInterrupt) && (r.Finding == nil || r.Finding == s.held.finding || s.opts.All) {
		state, serr := s.save()
		if serr == nil {
			serr = s.opts.Save(state)
		}
		if err == nil {
			err = serr
		}
	}
	return r, err
}

func (s *search) where(site trace.Site) string {
	return where(s.opts.Where, s.target.Modules(), site)
}

// caller is where for the program's own call of a site.
func (s *search) caller(site trace.Site, calls []trace.Site) string {
	return caller(s.opts.Locate, s.opts.Where, s.target.Modules(), site, calls)
}

func (s *search) note(format string, args ...any) {
	s.report.Notes = append(s.report.Notes, fmt.Sprintf(format, args...))
}

// tell reports progress. Unless now is set, it does nothing within 100 ms of the last report.
func (s *search) tell(phase Phase, now bool, cost *trace.Cost, more int) {
	if s.progress == nil || !now && !s.due.Load() {
		return
	}
	// A timer, because reading the clock would cost more than the rest of the loop's work for
	// an execution.
	s.due.Store(false)
	time.AfterFunc(100*time.Millisecond, func() { s.due.Store(true) })
	p := Progress{
		Phase: phase, Executions: s.report.Executions + more, Behaviours: s.behaviours.len(), Points: s.stage.Points,
		Round: s.stage.Round, Elapsed: time.Since(s.began), Cost: cost, Race: s.held.finding, Length: s.cuts.Long, Cut: s.cuts.Cut.Executions,
	}
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		p.PerSecond = float64(p.Executions) / seconds
	}
	s.progress(p)
}

// An execution that has run for longExecution is reported, and again every followEvery.
const (
	longExecution = 3 * time.Second
	followEvery   = time.Second
)

// follow reports where an execution is that takes long. The function that it returns ends that.
func (s *search) follow() (stop func()) {
	if s.progress == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			if at, by := s.position(); by != nil && at.For >= longExecution {
				s.progress(Progress{Phase: Exploring, Elapsed: time.Since(s.began), Long: &at})
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// shortens returns a function that ends the exploration, by end, after a part of Options.Time.
func (s *search) shortens(end context.CancelCauseFunc) func(share float64) {
	earliest := 1.0
	return func(share float64) {
		if s.opts.Time <= 0 || share >= earliest {
			return
		}
		earliest = share
		left := time.Duration(share*float64(s.opts.Time)) - time.Since(s.began)
		time.AfterFunc(max(left, 0), func() { end(errTime) })
	}
}

// find is Find without the totals of the report.
func (s *search) find(ctx context.Context) error {
	if s.opts.Resume != nil {
		if err := s.resume(s.opts.Resume); err != nil {
			return err
		}
		s.began = time.Now() // Options.Time is for executions
	}
	bounded, cancel := limited(ctx, s.opts.Time)
	defer cancel()
	defer s.follow()()
	if s.opts.Resume == nil {
		r := s.firstRequest()
		s.flight.add(&r)
	} else if len(s.flight.plans) == 0 && !s.more() {
		return nil
	}
	if len(s.opts.Workers) == 0 {
		s.squad.eager = s.opts.eager
		defer s.squad.prepare(s.opts.Processes, musterAfter)()
	}
	exploring, end := context.WithCancelCause(bounded)
	defer end(nil)
	s.endSooner = s.shortens(end)
	if s.opts.Why != nil && !s.opts.NoSimplify && s.opts.Time > 0 {
		s.endSooner(1 - float64(reserved(s.opts.Time))/float64(s.opts.Time))
	}
	for {
		f, err := s.explore(exploring)
		if err != nil {
			s.cutShort(err)
			switch {
			case err == errFirst:
				s.report.Ended = ByFirst
				return nil
			case ctx.Err() == nil && outOfTime(exploring):
				s.report.Ended = ByTime
				return nil
			}
			return err
		}
		if f == nil && s.report.Executions == 1 && !s.compared {
			if f, err = s.compare(exploring); err != nil {
				s.cutShort(err)
				return s.unlessTime(exploring, err)
			}
		}
		if f != nil {
			found, err := s.confirm(bounded, f)
			if err == errFirst {
				s.report.Ended = ByFirst
				return nil
			}
			if found && s.opts.All {
				s.collect()
			}
			if found && !s.opts.All || err != nil && !overdue(bounded, err) {
				return err
			}
			if s.held.finding != nil {
				s.endSooner(raceShare)
			}
		}
		if s.report.Ended != "" {
			return nil
		}
		if outOfTime(bounded) && !s.report.Sequential {
			s.report.Ended = ByTime
			return nil
		}
		if len(s.flight.plans) == 0 && !s.more() {
			return nil
		}
	}
}
