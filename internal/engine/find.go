package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// search is a Find under way.
type search struct {
	target   target.Target
	workers  []Worker
	opts     *Options
	report   *Report
	progress func(Progress)
	began    time.Time
	due      atomic.Bool // progress may be reported again

	setting    strategy.Setting
	shaping    savedOptions // as they were given
	strategy   strategy.Strategy
	stage      strategy.Stage
	flight     flight
	seen       strategy.Observation // of the present execution
	expect     int32
	expectSet  bool
	roomy      bool // the step budget is heddle's to choose (budget.go)
	behaviours behaviours
	races      map[[2]race.Access]raced
	cut        bool // the output of some execution was
	leaks      leaks
	outside    bool // some execution waited for the outside world
}

func newSearch(t target.Target, opts Options, progress func(Progress)) *search {
	s := &search{
		target: t, workers: opts.Workers, opts: &opts, progress: progress, began: time.Now(),
		report: &Report{Races: []Race{}, Instrumented: t.Header().Instrumented},
		setting: strategy.Setting{
			Build: t.Header().BuildID, Seed: opts.Seed, Points: slices.Compact(slices.Sorted(slices.Values(opts.Points))),
			RacesFail: opts.RacesFail, NoEarlyTimeouts: opts.NoEarlyTimeouts,
		},
		shaping:    opts.shaping(),
		behaviours: newBehaviours(), races: map[[2]race.Access]raced{},
	}
	if len(s.workers) == 0 {
		s.workers = []Worker{Local(t)}
	}
	if opts.Search != nil {
		s.strategy = opts.Search(s.setting)
	} else {
		s.strategy = strategy.NewPortfolio(s.setting)
	}
	s.stage = s.strategy.Stage()
	s.due.Store(true)
	if opts.ExpectStatus != nil {
		s.expect, s.expectSet = *opts.ExpectStatus, true
	}
	return s
}

// maxNotes bounds the notes in Report.Notes on failures that did not come again.
const maxNotes = 10

// Find explores the target's schedules until an execution fails, and makes sure of it,
// simplifies and reports it.
//
// The report is never nil: where Find is interrupted or fails it says what had been found
// by then. A failure that was seen is in it whatever happens after, with Finding.Confirmed
// false where it could not be made sure of. The error is nil for a bug, for nothing found and
// for an exploration in which no execution ended in time; the context's if that ended first;
// *UnsupportedError if heddle cannot carry the program; else what the target or the writing
// of a trace failed with.
func Find(ctx context.Context, t target.Target, opts Options, progress func(Progress)) (*Report, error) {
	s := newSearch(t, opts, progress)
	if !s.report.Instrumented {
		s.note("accesses to memory are not seen: only synchronisation can be controlled; compile with heddle cc to see data races")
	}
	err := s.find(ctx)
	if err == nil {
		err = s.reportLeaks(ctx)
	}
	r := s.report
	r.Seconds = time.Since(s.began).Seconds()
	if r.Seconds > 0 {
		r.PerSecond = float64(r.Executions) / r.Seconds
	}
	r.Rounds, r.Behaviours, r.Points, r.ExpectStatus = s.stage.Round, s.behaviours.len(), s.stage.Points, s.expect
	r.Races = s.named()
	if estimate, below, ok := s.behaviours.unseen(); ok && r.Ended != Sequential {
		r.Unseen = &Unseen{Estimate: estimate}
		if estimate == 0 {
			r.Unseen.Below = below
		}
	}
	switch {
	case r.Finding != nil:
		r.Outcome, r.Ended = Bug, ByFailure
		if r.Finding.Kind == trace.Exit.String() && s.opts.ExpectStatus == nil && s.expect != 0 {
			s.note("the first execution ended with status %d, which was taken for the right one; --expect-exit=0 makes it a failure", s.expect)
		}
	case err == nil && r.Executions == 0:
		r.Outcome = Unfinished
	case err == nil:
		r.Outcome = Nothing
		if s.opts.ExpectStatus == nil && s.expect != 0 && r.Executions > 0 {
			s.note("the program's exit status was %d in every execution, and was taken for the right one; --expect-exit=0 makes it a failure", s.expect)
		}
	case ctx.Err() != nil:
		r.Outcome, r.Ended = Interrupted, ByInterrupt
	default:
		r.Outcome, r.Ended = Failed, ByError
	}
	if s.opts.Save != nil && r.Executions > 0 && (r.Ended == ByTime || r.Ended == ByRuns || r.Ended == ByInterrupt) && r.Finding == nil {
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

func (s *search) where(site trace.Site, exact bool) string {
	return where(s.opts.Where, s.target.Modules(), site, exact)
}

// name is where for a place that an execution came from or goes on at.
func (s *search) name(site trace.Site) string { return s.where(site, false) }

func (s *search) note(format string, args ...any) {
	s.report.Notes = append(s.report.Notes, fmt.Sprintf(format, args...))
}

// tell reports progress; it is dropped if something was told a moment ago.
func (s *search) tell(phase Phase, now bool, cost *trace.Cost, more int) {
	if s.progress == nil || !now && !s.due.Load() {
		return
	}
	// A timer, because to ask for the time would cost more than the rest of what is done for an
	// execution.
	s.due.Store(false)
	time.AfterFunc(100*time.Millisecond, func() { s.due.Store(true) })
	p := Progress{
		Phase: phase, Executions: s.report.Executions + more, Behaviours: s.behaviours.len(), Points: s.stage.Points,
		Round: s.stage.Round, Elapsed: time.Since(s.began), Cost: cost,
	}
	if seconds := p.Elapsed.Seconds(); seconds > 0 {
		p.PerSecond = float64(p.Executions) / seconds
	}
	s.progress(p)
}

// find is Find without the report's sums.
func (s *search) find(ctx context.Context) error {
	first, cancelFirst := whileStill(ctx, s.target, s.opts.Time, 0)
	defer cancelFirst()
	others, cancelOthers := whileStill(ctx, s.target, s.opts.Time, stillAtLimit)
	defer cancelOthers()
	bounded, cancel := limited(ctx, s.opts.Time)
	defer cancel()
	if s.opts.Resume == nil {
		r := s.firstRequest()
		s.flight.add(&r)
	} else if err := s.resume(s.opts.Resume); err != nil {
		return err
	} else if len(s.flight.plans) == 0 && !s.more() {
		return nil
	}
	exploring := first
	for {
		f, err := s.explore(exploring)
		exploring = others
		if err != nil {
			if ctx.Err() == nil && (outOfTime(first) || outOfTime(others)) {
				s.report.Ended = ByTime
				return nil
			}
			return err
		}
		if f != nil {
			if found, err := s.confirm(bounded, f); found || err != nil {
				return err
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
