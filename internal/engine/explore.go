package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// failure is a failed execution that is not confirmed yet.
type failure struct {
	plan    schedule.Plan // of this execution alone
	outcome schedule.Outcome
	number  int    // among the exploration's executions, from 1
	arm     string // the strategy that planned it, as Explained names it
}

// exploration has the workers run the plans in flight, and those that the strategy adds meanwhile,
// until an execution fails or the strategy begins a new round. Each worker calls it from its own
// goroutine.
type exploration struct {
	*search
	ctx context.Context

	mu      sync.Locker // protects the fields below and the search; a no-op for a single worker
	changed *sync.Cond  // signalled when plans were added or the exploration has ended
	over    bool        // no more plans are handed out
	failure *failure
	err     error
	// dismissed: a replica has made an execution that counts only if the target makes it.
	dismissed bool
}

// explore returns the first failure in plan order, or nil. Plans not fully observed by then remain
// in flight.
func (s *search) explore(ctx context.Context) (*failure, error) {
	s.flight.rewind()
	if s.squad.waits() {
		s.workers = s.squad.join()
	}
	s.effort.begin()
	x := &exploration{search: s, ctx: ctx, mu: alone{}}
	if len(s.workers) > 1 {
		x.mu = new(sync.Mutex)
	}
	x.changed = sync.NewCond(x.mu)
	defer s.expire(ctx)()
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
	if x.dismissed {
		s.workers = []Worker{Local(s.target)}
		s.squad.dismiss()
	}
	switch {
	case x.err != nil:
		return nil, x.err
	case x.failure != nil:
		return x.failure, nil
	}
	return nil, ctx.Err()
}

// alone is the lock of a single worker.
type alone struct{}

func (alone) Lock()   {}
func (alone) Unlock() {}

// work has a worker run plans until the exploration has ended.
func (x *exploration) work(w Worker) {
	var load load
	next := func() (Job, bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.over || len(x.workers) > 1 && load.full(x.pace) || x.ctx.Err() != nil {
			return Job{}, false
		}
		j, ok := x.flight.take()
		if ok {
			load.took(j.Plan.Repeat)
			j.Plan.Haste = x.leaks.lingering >= maxLingering
		}
		return j, ok
	}
	replica, _ := w.(*recruit)
	done := func(r *Execution) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		if p := x.flight.get(r.Tag); r.Last && p != nil {
			load.done(p.request.Plan.Repeat-p.base, &x.pace)
		}
		switch o := r.Outcome; {
		case replica != nil && !replica.usable(o):
			x.dismiss()
			return false
		case o != nil && o.Trace != nil && !x.squad.over && outside(o):
			x.squad.over = true
		}
		return !x.over && x.deliver(r) && x.ctx.Err() == nil
	}
	for x.wait() {
		load.begin()
		if err := w.Work(x.ctx, next, done); err != nil {
			x.mu.Lock()
			if replica != nil && x.ctx.Err() == nil {
				x.dismiss()
			} else {
				x.stop(err)
			}
			x.mu.Unlock()
		} else if load.plans > 0 && x.running() {
			x.mu.Lock()
			x.stop(errors.New("a worker has not carried out a plan that it took: a bug in heddle"))
			x.mu.Unlock()
		}
	}
}

// wait blocks until a plan can be taken, and returns false once the exploration has ended or has no
// plans.
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

// dismiss ends the exploration. It goes on without replicas.
func (x *exploration) dismiss() {
	x.dismissed = true
	x.finish()
}

// finish ends the exploration.
func (x *exploration) finish() {
	x.over = true
	x.changed.Broadcast()
}

// stop ends the exploration with an error, unless a failure was found first.
func (x *exploration) stop(err error) {
	if x.failure == nil && (x.err == nil || further(err, x.err)) {
		x.err = err
	}
	x.finish()
}

// deliver accepts a result. It observes the result, and the early ones that follow it, if the
// result is next in order, and queues it otherwise. It reports whether the exploration continues.
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

// ended removes the first plan in flight after its last execution was observed, and asks for more
// plans. It reports whether this worker should continue.
func (x *exploration) ended() bool {
	x.flight.drop()
	if len(x.flight.plans) > 0 {
		x.plan()
	} else {
		// The exploration ends here after the first execution, because that one has its own
		// context, and before a new round, because targets then start fresh processes: leftover
		// state must not depend on the number of workers.
		round := x.strategy.Stage().Round
		if x.report.Executions == 1 || x.ctx.Err() != nil || !x.more() || x.strategy.Stage().Round != round {
			x.finish()
			return true
		}
	}
	if x.squad.muster(x.target); x.squad.waits() {
		x.finish() // it goes on with replicas
	}
	if len(x.workers) > 1 {
		x.changed.Broadcast()
	}
	return true
}

// plan asks the strategy for plans until it has none at present or the window is full.
func (s *search) plan() {
	for len(s.flight.plans) < strategy.Window {
		if s.left() == 0 {
			return
		}
		// The strategy does not know the bound, so that a search that continues makes the same plans.
		r, ok := s.strategy.Next(-1)
		if stage := s.strategy.Stage(); stage.Points != s.stage.Points || stage.Round != s.stage.Round {
			if stage.Points != s.stage.Points {
				s.behaviours.changed(s.flight.tag)
			}
			s.stage = stage
		}
		if !ok {
			return
		}
		s.complete(&r.Plan)
		s.shorten(&r)
		s.admit(r, 0)
	}
}

// admit puts a plan of which some executions were observed in flight, as far as Options.Runs allows.
func (s *search) admit(r strategy.Request, observed int) {
	r.Plan.Repeat = max(1, r.Plan.Repeat)
	left, whole := s.left(), r
	if left < 0 || r.Plan.Repeat-observed <= left && len(s.beyond) == 0 {
		left = r.Plan.Repeat - observed
	} else {
		s.beyond = append(s.beyond, strategy.InFlight{Request: whole, Observed: observed + left})
		r.Plan.Repeat = observed + left
	}
	if left == 0 {
		return
	}
	s.flight.add(&r)
	p := s.flight.plans[len(s.flight.plans)-1]
	p.observed, p.whole = observed, whole.Plan.Repeat
	s.flight.unseen -= observed
}

// left returns how many more executions Options.Runs allows besides those in flight, or -1 if
// unlimited.
func (s *search) left() int {
	if s.opts.Runs <= 0 {
		return -1
	}
	return max(0, s.opts.Runs-s.report.Executions-s.flight.unseen)
}

// complete sets the fields that all plans of the search share.
func (s *search) complete(p *schedule.Plan) {
	p.Stop, p.ExpectStatus, p.MaxSteps = !s.opts.setsAside(), s.expect, s.opts.MaxSteps
	if s.patient {
		p.FairAfter = cmp.Or(p.MaxSteps, usualSteps) / 2
	}
	if s.memoryBudget > 0 && len(p.Points) > 0 {
		p.MaxSteps = s.memoryBudget
	}
	p.Delays, p.Spurious = s.delays(), s.opts.Spurious
	p.Output = s.outputs != nil
}

// more is called when no plan is in flight. It makes plans, or sets Report.Ended and returns false.
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
			if c := s.coverage(); c != nil && !c.Complete {
				s.report.Ended = Exhausted
			}
		}
	}
	return false
}

// coverage returns what the strategy has enumerated, nil if that is not known.
func (s *search) coverage() *strategy.Coverage {
	e, ok := s.strategy.(strategy.Exhaustive)
	if !ok {
		return nil
	}
	c, ok := e.Coverage()
	if !ok {
		return nil
	}
	c.Missing = slices.Clone(c.Missing)
	if i := slices.Index(c.Missing, strategy.NotFollowed); i >= 0 && c.Departed != nil {
		c.Missing[i] += s.departed(c.Departed)
	}
	if !s.report.Instrumented {
		c.Missing = append(c.Missing, "accesses to memory are not seen")
	}
	if s.opts.Spurious {
		c.Missing = append(c.Missing, "spurious wake-ups are not enumerated")
	}
	if s.outputs != nil {
		// The dependences do not know writing: two threads that only print have one behaviour.
		c.Missing = append(c.Missing, "the orders in which threads print are not enumerated")
	}
	if s.external {
		c.Missing = append(c.Missing, "an execution depended on external nondeterminism")
	}
	if scanner, ok := target.As[target.CodeScanner](s.target); ok {
		c.Missing = append(c.Missing, scanner.Uncontrolled()...)
		if why := s.unhooked(); why != "" {
			c.Missing = append(c.Missing, why)
		}
	}
	if why := s.wide.unexplored(s.where); why != "" {
		c.Missing = append(c.Missing, why)
	}
	if s.cuts.Cut.Executions > 0 {
		c.Missing = append(c.Missing, "executions were cut")
	}
	if s.cuts.InTurns > 0 {
		c.Missing = append(c.Missing, "executions had scheduling decisions in some turns only")
	}
	if s.report.NotReproduced > 0 {
		c.Missing = append(c.Missing, "an execution failed and did not fail again")
	}
	c.Complete = c.Complete && len(c.Missing) == 0
	return &c
}

// unhooked says which code without hooks may synchronise threads; "" if heddle knows of none.
func (s *search) unhooked() string {
	scanner, ok := target.As[target.CodeScanner](s.target)
	if !ok || !s.report.Instrumented {
		return ""
	}
	n, first, files := scanner.Unhooked()
	switch {
	case n > 0:
		return fmt.Sprintf("%s of inline assembly or of other code without hooks (first: %s)", wording.Count(n, "atomic instruction"), s.where(first))
	case len(files) > 0:
		return "code in assembly language without hooks (" + strings.Join(files, ", ") + ")"
	}
	return ""
}

// departed says where an execution left its schedule.
func (s *search) departed(d *schedule.Divergence) string {
	want := fmt.Sprintf(": decision %d was to be \"%s\"%s", d.Step+1, d.Expected.Op, s.placed(d.Expected.Site))
	if d.Met.Thread < 0 || d.Met.Op == trace.OpNone {
		return want + ", for which its thread was not there"
	}
	return fmt.Sprintf("%s, and the thread came to \"%s\"%s", want, d.Met.Op, s.placed(d.Met.Site))
}

func (s *search) placed(site trace.Site) string {
	if site == 0 {
		return ""
	}
	return " at " + s.where(site)
}

// stale reports whether Options.Stale ends the exploration. It does not while instructions that
// have just raced wait to become scheduling points, or once behaviours are no longer recorded.
func (s *search) stale() bool {
	old := s.report.Executions - s.report.Newest - s.cuts.Since
	return s.opts.Stale > 0 && old >= s.opts.Stale && old >= (s.report.Executions-s.cuts.Cut.Executions-s.cuts.InTurns)/2 && s.strategy.Stage().Waiting == 0 && !s.behaviours.full()
}
