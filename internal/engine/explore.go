package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// campaign is a Find under way.
type campaign struct {
	target   target.Target
	opts     *Options
	report   *Report
	progress func(Progress)
	began    time.Time
	told     time.Time // when progress was told last

	planner    *planner
	expect     int32
	expectSet  bool
	behaviours behaviours
	races      map[[2]race.Access]raced
	points     map[trace.Site]bool
	fresh      []trace.Site // racing instructions, and those a handler may come between, that are not points yet
	cut        bool         // the output of some execution was
	leaks      leaks
	outside    bool // some execution waited for the outside world
}

// failure is an execution that failed, not confirmed yet.
type failure struct {
	plan    schedule.Plan // of this execution alone
	outcome schedule.Outcome
	number  int // of the exploration's executions, from 1
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
	c := &campaign{
		target: t, opts: &opts, progress: progress, began: time.Now(),
		report:     &Report{Races: []Race{}, Instrumented: t.Header().Instrumented},
		planner:    newPlanner(&opts),
		behaviours: newBehaviours(), races: map[[2]race.Access]raced{}, points: map[trace.Site]bool{},
	}
	if !c.report.Instrumented {
		c.note("accesses to memory are not seen: only synchronisation can be controlled; compile with heddle cc to see data races")
	}
	err := c.find(ctx)
	if err == nil {
		err = c.reportLeaks(ctx)
	}
	r := c.report
	r.Seconds = time.Since(c.began).Seconds()
	if r.Seconds > 0 {
		r.PerSecond = float64(r.Executions) / r.Seconds
	}
	r.Rounds, r.Behaviours, r.Points, r.ExpectStatus = c.planner.round, c.behaviours.len(), len(c.planner.points), c.expect
	r.Races = c.named()
	if estimate, below, ok := c.behaviours.unseen(); ok && r.Ended != Sequential {
		r.Unseen = &Unseen{Estimate: estimate}
		if estimate == 0 {
			r.Unseen.Below = below
		}
	}
	switch {
	case r.Finding != nil:
		r.Outcome, r.Ended = Bug, ByFailure
		if r.Finding.Kind == trace.Exit.String() && c.opts.ExpectStatus == nil && c.expect != 0 {
			c.note("the first execution ended with status %d, which was taken for the right one; --expect-exit=0 makes it a failure", c.expect)
		}
	case err == nil && r.Executions == 0:
		r.Outcome = Unfinished
	case err == nil:
		r.Outcome = Nothing
		if c.opts.ExpectStatus == nil && c.expect != 0 && r.Executions > 0 {
			c.note("the program's exit status was %d in every execution, and was taken for the right one; --expect-exit=0 makes it a failure", c.expect)
		}
	case ctx.Err() != nil:
		r.Outcome, r.Ended = Interrupted, ByInterrupt
	default:
		r.Outcome, r.Ended = Failed, ByError
	}
	return r, err
}

func (c *campaign) where(s trace.Site, exact bool) string {
	return where(c.opts.Where, c.target.Modules(), s, exact)
}

func (c *campaign) note(format string, args ...any) {
	c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, args...))
}

// tell reports progress; it is dropped if something was told a moment ago.
func (c *campaign) tell(phase Phase, now bool, cost *trace.Cost, more int) {
	if c.progress == nil || !now && time.Since(c.told) < 100*time.Millisecond {
		return
	}
	c.told = time.Now()
	p := Progress{
		Phase: phase, Executions: c.report.Executions + more, Behaviours: c.behaviours.len(), Points: len(c.planner.points),
		Round: c.planner.round, Elapsed: c.told.Sub(c.began), Cost: cost,
	}
	if s := p.Elapsed.Seconds(); s > 0 {
		p.PerSecond = float64(p.Executions) / s
	}
	c.progress(p)
}

// find is Find without the report's sums.
func (c *campaign) find(ctx context.Context) error {
	first, cancelFirst := forFirst(ctx, c.target, c.opts.Time)
	defer cancelFirst()
	bounded, cancel := limited(ctx, c.opts.Time)
	defer cancel()
	if c.opts.ExpectStatus != nil {
		c.expect, c.expectSet = *c.opts.ExpectStatus, true
		c.planner.expect = c.expect
	}
	c.add(slices.Clone(c.opts.Points))
	queue := []planned{{plan: c.firstPlan()}}
	exploring := first
	for {
		f, rest, err := c.explore(exploring, queue)
		exploring = bounded
		if err != nil {
			if ctx.Err() == nil && (outOfTime(first) || outOfTime(bounded)) {
				c.report.Ended = ByTime
				return nil
			}
			return err
		}
		if f != nil {
			if found, err := c.confirm(bounded, f); found || err != nil {
				return err
			}
			queue = rest
		} else {
			queue = nil
		}
		switch {
		case c.report.Sequential:
			c.report.Ended = Sequential
			return nil
		case outOfTime(bounded):
			c.report.Ended = ByTime
			return nil
		}
		if len(queue) == 0 {
			if c.stale() {
				c.report.Ended = Stale
				return nil
			}
			c.add(c.fresh)
			c.fresh = nil
			queue = c.planner.nextRound()
		}
		if queue = c.within(queue); len(queue) == 0 {
			c.report.Ended = ByRuns
			return nil
		}
	}
}

// stale reports whether Options.Stale ends the exploration. Instructions that have just
// raced are worth a round, and behaviours that are not told apart are no sign.
func (c *campaign) stale() bool {
	old := c.report.Executions - c.report.Newest
	return c.opts.Stale > 0 && old >= c.opts.Stale && old >= c.report.Executions/2 && len(c.fresh) == 0 && !c.behaviours.full()
}

// within cuts plans to what Options.Runs leaves.
func (c *campaign) within(queue []planned) []planned {
	if c.opts.Runs <= 0 {
		return queue
	}
	left := c.opts.Runs - c.report.Executions
	for i := range queue {
		if n := &queue[i].plan.Repeat; *n >= left {
			*n = left
			if left > 0 {
				i++
			}
			return queue[:i]
		}
		left -= queue[i].plan.Repeat
	}
	return queue
}

// explore runs plans until an execution fails. It returns that, and the plans and parts of
// plans after it.
func (c *campaign) explore(ctx context.Context, queue []planned) (f *failure, rest []planned, err error) {
	given, at, index := 0, 0, 0 // plans given out; the plan that runs, and its execution
	stop := error(nil)
	err = c.target.Stream(ctx, func() (schedule.Plan, bool) {
		if given == len(queue) || ctx.Err() != nil {
			return schedule.Plan{}, false
		}
		given++
		p := queue[given-1].plan
		p.Haste = c.leaks.lingering >= maxLingering
		return p, true
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		for queue[at].plan.Seed != p.Seed {
			if at, index = at+1, 0; at == given {
				stop = errors.New("the target reports an execution of a plan that it was not given: a bug in heddle")
				return false
			}
		}
		q := &queue[at]
		p.Seed += uint64(index)
		p.Repeat = 1
		index++
		c.report.Executions++
		c.tell(Exploring, false, nil, 0)
		c.leaks.setAside(p, &o, c.report.Executions)
		if stop = c.look(q, &p, &o); stop != nil {
			return false
		}
		if o.Ending.Kind.Failed() {
			f = &failure{plan: p, outcome: o, number: c.report.Executions}
			return false
		}
		return ctx.Err() == nil
	})
	switch {
	case stop != nil:
		return nil, nil, stop
	case f != nil:
		if index < queue[at].plan.Repeat {
			left := queue[at]
			left.plan.Seed += uint64(index)
			left.plan.Repeat -= index
			rest = append(rest, left)
		}
		return f, append(rest, queue[at+1:]...), nil
	case err != nil:
		return nil, nil, err
	}
	return nil, nil, ctx.Err()
}

// look takes in one outcome of p, and judges it. The error ends the campaign.
func (c *campaign) look(q *planned, p *schedule.Plan, o *schedule.Outcome) error {
	a := q.arm
	switch o.Ending.Kind {
	case trace.Unsupported:
		return &UnsupportedError{What: o.Ending.Message, Where: c.where(o.Ending.Site, false)}
	case trace.Diverged:
		return errors.New("the target reports that an execution left its script, but it had none: a bug in heddle")
	case trace.Clean:
		if !c.expectSet {
			c.expect, c.expectSet = o.Ending.Status, true
			c.planner.expect = c.expect
		}
	}
	if err := c.budget(o); err != nil {
		return err
	}
	judge(&o.Ending, c.expect)
	if o.Outside && !c.outside {
		c.outside = true
		c.note("an execution waited for something outside of the program (another process, the network, a system call that lasted): heddle does not control when that comes, and the same schedule may end otherwise")
	}
	if c.behaviours.add(o.Coverage, q.plan.Seed) {
		c.report.Newest = c.report.Executions
		if a != nil {
			a.fresh++
		}
	}
	if a != nil {
		a.executions++
		if !o.Ending.Kind.Failed() {
			c.planner.saw(a.memory, o.Points, o.Threads)
		}
	}
	if o.Trace == nil {
		return nil
	}
	judge(&o.Trace.Ending, c.expect)
	if !c.cut && len(o.Ending.Output) >= ipc.OutputKept {
		c.cut = true
		c.note("an execution printed more than %d kB: only the beginning and the end of its output are kept", ipc.OutputKept>>10)
	}
	if c.report.Executions == 1 && c.opts.StopWhenSequential && !o.Ending.Kind.Failed() && !o.Outside && !c.opts.Spurious {
		c.report.Sequential = sequential(o.Trace)
	}
	seen := c.planner.observer.Seen()
	c.planner.window(seen)
	if seen.Incomplete != "" && c.report.RacesIncomplete == "" {
		c.report.RacesIncomplete = seen.Incomplete
		c.note("races may be missed: %s; --memory SIZE allows for more", seen.Incomplete)
	}
	c.saw(o.Trace, seen.Races)
	for _, s := range append(race.Sites(seen.Races), race.Handlers(o.Trace)...) {
		if !c.points[s] {
			c.points[s] = true
			c.fresh = append(c.fresh, s)
		}
	}
	if !o.Ending.Kind.Failed() {
		c.planner.recorded(seen, len(o.Trace.Threads))
	}
	// A race that shows only after accesses that were skipped becomes scheduling points, and
	// then shows in every execution that is recorded.
	if c.opts.RacesFail && p.SkipAccesses == 0 {
		v := verdict{expect: c.expect, where: func(s trace.Site) string { return c.where(s, false) }}
		v.race(o, seen.Races)
	}
	return nil
}

// add makes sites scheduling points from now on.
func (c *campaign) add(sites []trace.Site) {
	if len(sites) == 0 {
		return
	}
	for _, s := range sites {
		c.points[s] = true
	}
	c.planner.grown(slices.Sorted(maps.Keys(c.points)))
	c.behaviours.changed(c.planner.seed())
}
