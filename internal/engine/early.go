package engine

import (
	"context"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A test waits for 50 ms for what takes microseconds, and fails if the time limit is reached. A timer that fires early leads there, and
// says nothing about the program: with Options.EarlyAside such a failure is set aside. It needs the timer to fire early if it comes neither
// under its own plan, nor under the recorded schedule, nor under random ones, where timers overtake the threads by no more than
// schedule.Brief. The rest of the search keeps that bound, and so goes on looking for the failure.
//
// Data races are not set aside: the accesses race whichever timer led to them.

// Early is a failure that needs a timer to fire early.
type Early struct {
	Key     string `json:"key"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Ahead is by how many seconds of virtual time at most timers fired early in the execution, all together.
	Ahead float64 `json:"ahead"`
}

// SetsEarlyAside reports whether failures that need a timer to fire early are set aside.
func (o *Options) SetsEarlyAside() bool { return o.EarlyAside && o.delays() == schedule.ShortDelays }

// NeedsEarly reports whether a recorded failure was found where timers could fire earlier than by schedule.Brief, and some did.
func NeedsEarly(t *trace.Trace) bool {
	d := strategy.DelaysOf(t)
	return t.Ending.Kind != trace.Race && (d == schedule.ShortDelays || d == schedule.AnyDelays)
}

// overtakes reports whether timers of a Go program may fire early under the plan.
func overtakes(p *schedule.Plan) bool {
	return p.Delays != schedule.NoDelays && (p.Timeouts || slices.ContainsFunc(p.Script, func(s schedule.Step) bool { return s.Timeout }) ||
		slices.ContainsFunc(p.Holds, func(h schedule.Hold) bool { return h.Time }))
}

// delays returns the bound on early timers for the next plans.
func (s *search) delays() schedule.Delays {
	if d := s.opts.delays(); !s.brief || d != schedule.ShortDelays {
		return d
	}
	return schedule.BriefDelays
}

// onlyEarly reports whether a failure, recorded as o, needs a timer to fire early, and sets it aside. If it does not, o and f become
// an execution that fails in the same way without. On an error, that is not known, and the failure does not count.
func (s *search) onlyEarly(ctx context.Context, f *failure, o *schedule.Outcome) (aside bool, err error) {
	if !s.hurried(f, o) {
		return false, nil
	}
	last, cancel := outlasting(ctx)
	defer cancel()
	slower := *f
	now, err := s.briefly(last, &slower, o)
	if err == nil && now != nil {
		if err = s.followed(ctx, &slower, now); err == nil {
			*f, *o = slower, *now
			return false, nil
		}
	}
	if _, diverged := err.(*DivergedError); err != nil && !diverged {
		s.undecided(ctx, f, err, "an execution without early timers showed it")
		return true, err
	}
	s.setEarlyAside(o)
	return true, nil
}

// hurried reports whether timers fired early in a failed execution, so that it may be one to set aside.
func (s *search) hurried(f *failure, o *schedule.Outcome) bool {
	kind := o.Ending.Kind
	return s.opts.SetsEarlyAside() && f.plan.Delays == schedule.ShortDelays && kind != trace.Race && !kind.Endless() && !s.knows(o) &&
		o.Trace != nil && o.Trace.Overtakings() > 0
}

// briefly looks for an execution that fails like o and in which timers overtake threads by no more than schedule.Brief. It returns nil
// if it finds none. f becomes the failure that it shows.
func (s *search) briefly(ctx context.Context, f *failure, o *schedule.Outcome) (*schedule.Outcome, error) {
	f.plan.Delays = schedule.BriefDelays
	exec := judged(s.target, verdict{expect: s.expect, outputs: s.outputs, where: s.caller})
	goal := finding.Of(o.Ending, s.target.Modules())
	same := func(e trace.Ending) bool { return goal.Same(finding.Of(e, s.target.Modules())) }
	plan := f.plan
	plan.Record = true
	now, err := exec(ctx, plan)
	if err != nil {
		return nil, err
	}
	if now.Trace != nil && same(now.Ending) {
		return &now, nil
	}
	if len(schedule.ScriptOf(o.Trace)) == 0 {
		return nil, nil
	}
	found, _, err := undelayed(ctx, exec, like(o.Trace, replayPlan(o.Trace)), schedule.BriefDelays, o.Trace, same)
	if err != nil || found == o.Trace {
		return nil, err
	}
	return &schedule.Outcome{Trace: found, Ending: found.Ending, Shared: o.Shared, External: o.External}, nil
}

// setEarlyAside counts a failure that needs a timer to fire early. No such timer follows.
func (s *search) setEarlyAside(o *schedule.Outcome) {
	key, _ := s.key(&o.Ending, o.Trace)
	e := finding.Of(o.Ending, s.target.Modules())
	s.report.Early = append(s.report.Early, Early{Key: key, Kind: e.Kind.String(), Message: e.Named(o.Trace.Stacks, s.locate), Ahead: earliness(o.Trace).Seconds()})
	s.brief = true
	for _, p := range s.flight.plans {
		p.request.Plan.Delays = s.delays()
	}
	for i := range s.beyond {
		s.beyond[i].Request.Plan.Delays = s.delays()
	}
}

// earliness returns an upper bound of the virtual time by which the timers of a Go program overtook its goroutines. A timer's event has
// the time at which it was due, and each other event takes at least abi.PointNs.
func earliness(t *trace.Trace) (sum time.Duration) {
	now := time.Duration(0)
	for i := range t.Events {
		e := &t.Events[i]
		now += abi.PointNs
		if e.Op != trace.OpTimerFire {
			continue
		}
		due := time.Duration(e.Value)
		if e.Overtakes() {
			sum += max(due-now, 0)
		}
		now = max(now, due)
	}
	return sum
}
