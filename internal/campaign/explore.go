package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/target"
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
	newest     int // executions when a behaviour was new for the last time
	races      map[[2]race.Access]race.Race
	points     map[trace.Site]bool
	fresh      []trace.Site // racing instructions, and those a handler may come between, that are no points yet
	leaks      leaks
	outside    bool // some execution waited for the outside world
}

// failure is an execution that failed, not confirmed yet.
type failure struct {
	plan    schedule.Plan // of this execution alone
	outcome schedule.Outcome
	number  int // of the exploration's executions, from 1
}

// errTime ends the exploration when Options.Time is over.
var errTime = errors.New("the time is over")

// maxNotes bounds Report.Notes.
const maxNotes = 10

// Find explores the target's schedules until an execution fails, and makes sure of it,
// simplifies and reports it.
//
// The report is never nil: where Find is interrupted or fails it says what had been found
// by then. The error is nil for a bug and for nothing found; the context's if that ended
// first; *UnsupportedError if heddle cannot carry the program; else what the target or
// the writing of a trace failed with.
func Find(ctx context.Context, t target.Target, opts Options, progress func(Progress)) (*Report, error) {
	c := &campaign{
		target: t, opts: &opts, progress: progress, began: time.Now(),
		report:     &Report{Races: []Race{}, Instrumented: t.Header().Instrumented},
		planner:    newPlanner(&opts),
		behaviours: behaviours{}, races: map[[2]race.Access]race.Race{}, points: map[trace.Site]bool{},
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
	r.Rounds, r.Behaviours, r.Points, r.ExpectStatus = c.planner.round, len(c.behaviours), len(c.planner.points), c.expect
	r.setRaces(c.sortedRaces(), func(s trace.Site) string { return c.where(s, false) })
	switch {
	case r.Finding != nil:
		r.Outcome = Bug
	case err == nil:
		r.Outcome = Nothing
		if c.opts.ExpectStatus == nil && c.expect != 0 && r.Executions > 0 {
			c.note("the program's exit status was %d in every execution, and was taken for the right one; --expect-exit=0 makes it a failure", c.expect)
		}
	case ctx.Err() != nil:
		r.Outcome = Interrupted
	default:
		r.Outcome = Failed
	}
	return r, err
}

func (c *campaign) where(s trace.Site, exact bool) string {
	return where(c.opts.Where, c.target.Modules(), s, exact)
}

func (c *campaign) note(format string, args ...any) {
	if len(c.report.Notes) < maxNotes {
		c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, args...))
	}
}

// tell reports progress; it is dropped if something was told a moment ago.
func (c *campaign) tell(phase Phase, now bool, cost *trace.Cost, more int) {
	if c.progress == nil || !now && time.Since(c.told) < 100*time.Millisecond {
		return
	}
	c.told = time.Now()
	p := Progress{
		Phase: phase, Executions: c.report.Executions + more, Behaviours: len(c.behaviours), Points: len(c.planner.points),
		Round: c.planner.round, Elapsed: c.told.Sub(c.began), Cost: cost,
	}
	if s := p.Elapsed.Seconds(); s > 0 {
		p.PerSecond = float64(p.Executions) / s
	}
	c.progress(p)
}

// find is Find without the report's sums.
func (c *campaign) find(ctx context.Context) error {
	bounded := ctx
	if c.opts.Time > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeoutCause(ctx, c.opts.Time, errTime)
		defer cancel()
	}
	if c.opts.ExpectStatus != nil {
		c.expect, c.expectSet = *c.opts.ExpectStatus, true
		c.planner.expect = c.expect
	}
	c.add(slices.Clone(c.opts.Points))
	queue := []planned{{plan: c.planner.first()}}
	for {
		f, rest, err := c.explore(bounded, queue)
		if err != nil {
			if ctx.Err() == nil && context.Cause(bounded) == errTime {
				return nil
			}
			return err
		}
		if f != nil {
			// What has been found is confirmed even when the time is over.
			if found, err := c.confirm(ctx, f); found || err != nil {
				return err
			}
			queue = rest
		} else {
			queue = nil
		}
		if c.report.Sequential {
			c.note("one thread only, and no choice: there is nothing to explore")
			return nil
		}
		if len(queue) == 0 {
			if c.stale() {
				return nil
			}
			c.add(c.fresh)
			c.fresh = nil
			queue = c.planner.nextRound()
		}
		if queue = c.within(queue); len(queue) == 0 {
			return nil
		}
	}
}

// stale reports whether Options.Stale ends the exploration. Instructions that have just
// raced are worth a round, and behaviours that are not told apart are no sign.
func (c *campaign) stale() bool {
	old := c.report.Executions - c.newest
	return c.opts.Stale > 0 && old >= c.opts.Stale && old >= c.report.Executions/2 && len(c.fresh) == 0 && len(c.behaviours) < MaxBehaviours
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
		q := queue[at]
		p.Seed += uint64(index)
		p.Repeat = 1
		index++
		c.report.Executions++
		c.tell(Exploring, false, nil, 0)
		c.leaks.setAside(p, &o, c.report.Executions)
		if stop = c.look(q.arm, &o); stop != nil {
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

// look takes in one outcome, and judges it. The error ends the campaign.
func (c *campaign) look(a *arm, o *schedule.Outcome) error {
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
	judge(&o.Ending, c.expect)
	if o.Outside && !c.outside {
		c.outside = true
		c.note("an execution waited for something outside of the program (another process, the network, a system call that lasted): heddle does not control when that comes, and the same schedule may end otherwise")
	}
	if c.behaviours.add(o.Coverage) {
		c.newest = c.report.Executions
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
	if c.report.Executions == 1 && c.opts.StopWhenSequential && !o.Ending.Kind.Failed() {
		c.report.Sequential = sequential(o.Trace)
	}
	races := race.Check(o.Trace)
	for _, r := range races {
		if _, ok := c.races[r.Pair]; !ok {
			c.races[r.Pair] = r
		}
	}
	for _, s := range append(race.Sites(races), race.Handlers(o.Trace)...) {
		if !c.points[s] {
			c.points[s] = true
			c.fresh = append(c.fresh, s)
		}
	}
	if !o.Ending.Kind.Failed() {
		c.planner.recorded(o.Trace)
	}
	if c.opts.RacesFail {
		v := verdict{expect: c.expect, where: func(s trace.Site) string { return c.where(s, false) }}
		v.race(o, races)
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
}

func (c *campaign) sortedRaces() []race.Race {
	return slices.SortedFunc(maps.Values(c.races), race.Race.Compare)
}
