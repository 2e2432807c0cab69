package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
)

// failure is an execution that failed, not confirmed yet.
type failure struct {
	plan    schedule.Plan // of this execution alone
	outcome schedule.Outcome
	number  int // of the exploration's executions, from 1
}

// exploration lets the workers carry out the plans in flight, and those that the strategy makes
// meanwhile, until an execution fails or the strategy begins another round. Workers call it from
// goroutines of their own.
type exploration struct {
	*search
	ctx context.Context

	mu      sync.Locker // protects what follows and the search; it does nothing for a single worker
	changed *sync.Cond  // there are more plans, or it is over
	over    bool        // nothing more is given out
	failure *failure
	err     error
}

// explore returns the first failure in the order of the plans, or nil. Plans that
// have not been observed by then remain in flight.
func (s *search) explore(ctx context.Context) (*failure, error) {
	s.flight.rewind()
	x := &exploration{search: s, ctx: ctx, mu: alone{}}
	if len(s.workers) > 1 {
		x.mu = new(sync.Mutex)
	}
	x.changed = sync.NewCond(x.mu)
	if len(s.workers) == 1 {
		x.work(s.workers[0])
	} else {
		var all sync.WaitGroup
		for _, w := range s.workers {
			all.Add(1)
			go func() {
				defer all.Done()
				x.work(w)
			}()
		}
		all.Wait()
	}
	switch {
	case x.err != nil:
		return nil, x.err
	case x.failure != nil:
		return x.failure, nil
	}
	return nil, ctx.Err()
}

// alone is the lock of a worker that has nobody to keep out.
type alone struct{}

func (alone) Lock()   {}
func (alone) Unlock() {}

// work lets a worker carry out plans until the exploration is over.
func (x *exploration) work(w Worker) {
	// A worker must not take all the plans there are from the others.
	held, most := 0, strategy.Window
	if n := len(x.workers); n > 1 {
		most = max(1, strategy.Window/(2*n))
	}
	next := func() (Job, bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.over || held == most || x.ctx.Err() != nil {
			return Job{}, false
		}
		j, ok := x.flight.take()
		if ok {
			held++
			j.Plan.Haste = x.leaks.lingering >= maxLingering
		}
		return j, ok
	}
	done := func(r *Execution) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		if r.Last {
			held--
		}
		return !x.over && x.deliver(r) && x.ctx.Err() == nil
	}
	for x.wait() {
		if err := w.Work(x.ctx, next, done); err != nil {
			x.mu.Lock()
			x.stop(err)
			x.mu.Unlock()
		} else if held > 0 && x.running() {
			x.mu.Lock()
			x.stop(errors.New("a worker has not carried out a plan that it took: a bug in heddle"))
			x.mu.Unlock()
		}
	}
}

// wait returns when there is a plan to carry out, or false when the exploration is over.
func (x *exploration) wait() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		switch {
		case x.over || x.ctx.Err() != nil:
			x.finish()
			return false
		case x.flight.taken < len(x.flight.plans):
			return true
		case len(x.flight.plans) == 0:
			return false
		}
		x.changed.Wait()
	}
}

func (x *exploration) running() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.over && x.ctx.Err() == nil
}

// finish ends the exploration.
func (x *exploration) finish() {
	x.over = true
	x.changed.Broadcast()
}

// stop ends it with an error. A failure that was found before counts for more.
func (x *exploration) stop(err error) {
	if x.err == nil && x.failure == nil {
		x.err = err
	}
	x.finish()
}

// deliver takes in a result: it is observed if its turn has come, with those that have waited for
// it, and kept otherwise. It reports whether the exploration goes on.
func (x *exploration) deliver(r *Execution) bool {
	p := x.flight.get(r.Tag)
	if p == nil {
		x.stop(errors.New("a worker reports an execution of a plan that it was not given: a bug in heddle"))
		return false
	}
	if p != x.flight.first() || len(p.early) > 0 {
		e := early{last: r.Last}
		if r.Outcome != nil {
			o := *r.Outcome
			e.outcome = &o
		}
		if r.Seen != nil {
			seen := *r.Seen
			e.seen = &seen
		}
		p.early = append(p.early, e)
		return true
	}
	if !x.observe(p, r.Outcome, r.Last, r.Seen) {
		return false
	}
	for len(x.flight.plans) > 0 && len(x.flight.first().early) > 0 {
		p := x.flight.first()
		e := p.early[0]
		p.early = p.early[1:]
		if !x.observe(p, e.outcome, e.last, e.seen) {
			return false
		}
	}
	return true
}

// ended goes on after the last execution of the first plan in flight was observed. It reports
// whether the exploration does.
func (x *exploration) ended() bool {
	x.flight.drop()
	if len(x.flight.plans) > 0 {
		x.plan()
	} else {
		// After the first execution its context ends, and for another round targets begin
		// afresh: what they left behind must not depend on the number of workers.
		round := x.strategy.Stage().Round
		if x.report.Executions == 1 || x.ctx.Err() != nil || !x.more() || x.strategy.Stage().Round != round {
			x.finish()
			return true
		}
	}
	if len(x.workers) > 1 {
		x.changed.Broadcast()
	}
	return true
}

// plan asks the strategy for plans until it has none for now, or the window is full.
func (s *search) plan() {
	for len(s.flight.plans) < strategy.Window {
		left := s.left()
		if left == 0 && len(s.flight.plans) > 0 {
			return
		}
		r, ok := s.strategy.Next(left)
		if stage := s.strategy.Stage(); stage.Points != s.stage.Points || stage.Round != s.stage.Round {
			if stage.Points != s.stage.Points {
				s.behaviours.changed(s.flight.tag)
			}
			s.stage = stage
		}
		if !ok || left == 0 {
			return
		}
		if left > 0 {
			r.Plan.Repeat = min(max(1, r.Plan.Repeat), left)
		}
		s.complete(&r.Plan)
		s.flight.add(&r)
	}
}

// left is how many executions Options.Runs leaves besides those in flight, -1 for any number.
func (s *search) left() int {
	if s.opts.Runs <= 0 {
		return -1
	}
	return max(0, s.opts.Runs-s.report.Executions-s.flight.unseen)
}

// complete fills in what all plans of the search have in common.
func (s *search) complete(p *schedule.Plan) {
	p.Stop, p.ExpectStatus, p.MaxSteps = true, s.expect, s.opts.MaxSteps
	p.Delays, p.Spurious = s.opts.delays(), s.opts.Spurious
}

// more is called when nothing is in flight. It makes plans, or says in the report why the
// exploration ends.
func (s *search) more() bool {
	switch {
	case s.report.Sequential:
		s.report.Ended = Sequential
	case s.stale():
		s.report.Ended = Stale
	default:
		s.plan()
		switch {
		case len(s.flight.plans) > 0:
			return true
		case s.left() == 0:
			s.report.Ended = ByRuns
		default:
			s.report.Ended = Complete
		}
	}
	return false
}

// stale reports whether Options.Stale ends the exploration. Instructions that have just
// raced are worth a round, and behaviours that are not told apart are no sign.
func (s *search) stale() bool {
	old := s.report.Executions - s.report.Newest
	return s.opts.Stale > 0 && old >= s.opts.Stale && old >= s.report.Executions/2 && s.strategy.Stage().Waiting == 0 && !s.behaviours.full()
}
