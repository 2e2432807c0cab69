package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
)

// Worker runs plans for an exploration, in one or more processes, on this machine or another. All
// workers of a search run the same build with the same libraries, so that sites mean the same on
// each of them and a plan gives the same execution on any worker.
type Worker interface {
	// Work takes jobs from next and calls done with their results. The results of one job come in
	// the order of its executions, and the last one sets Last; those of different jobs may come in
	// any order. Work may take any number of jobs before the first is done. If next returns false,
	// no job is available at present: Work asks again after it has called done, and returns nil
	// when it has no job left and next returns false.
	//
	// When done returns false, the caller wants no more results. Work then returns nil as soon as
	// it is ready for another call, and need not finish the jobs that it took.
	//
	// Work calls next and done from one goroutine at a time. It returns the context's error, or
	// another one if the worker failed.
	Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error
}

// Job is a plan to run. The plan's Tag identifies it among the jobs of the search.
type Job struct {
	Plan schedule.Plan
	// Observe asks for Execution.Seen. The target watches the executions in place if it can;
	// otherwise they are recorded and it sends their accesses.
	Observe bool
}

// Execution is the result of one execution of a job. Except for the trace, it is valid only until
// done returns.
type Execution struct {
	Tag uint64 // the plan's
	// Outcome is nil if the plan ended early, before all requested executions; Last is then
	// true.
	Outcome *schedule.Outcome
	Last    bool // no other result of the job follows
	Seen    *observe.Observation
}

// Local returns a worker that runs plans on a target of this process.
func Local(t target.Target) Worker { return &local{target: t} }

type local struct {
	target   target.Target
	observer observe.Observer
}

// Work implements Worker.
func (l *local) Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
	w := &localWork{done: done, observer: &l.observer}
	watches := target.Watches(l.target)
	err := l.target.Stream(ctx, func() (schedule.Plan, bool) {
		j, ok := next()
		if !ok {
			return schedule.Plan{}, false
		}
		switch p := &j.Plan; {
		case !j.Observe:
		case watches:
			p.Watch, p.SkipAccesses = true, 0
		default:
			// A trace has accesses from the start or not at all.
			p.Record, p.Watcher, p.Accesses = true, &l.observer, p.Accesses || p.SkipAccesses == 0
		}
		w.taken = append(w.taken, j.Plan.Tag)
		return j.Plan, true
	}, w.outcome)
	if err == nil && !w.stopped {
		w.over(len(w.taken))
	}
	return err
}

// localWork is the state of one call of Work. Targets finish plans in the order in which they took
// them.
type localWork struct {
	done     func(*Execution) bool
	observer *observe.Observer
	taken    []uint64 // tags of the plans that have not ended
	stopped  bool
	result   Execution
	seen     observe.Observation
	out      schedule.Outcome
}

// outcome is the callback for the target's outcomes.
func (w *localWork) outcome(p schedule.Plan, o schedule.Outcome) bool {
	for i, tag := range w.taken {
		if tag != p.Tag {
			continue
		}
		if i > 0 && !w.over(i) {
			return false
		}
		break
	}
	w.out = o
	w.result = Execution{Tag: p.Tag, Outcome: &w.out, Last: p.Ends(&o)}
	switch {
	case o.Watched != nil:
		w.seen = observe.InPlace(&o, p.Sites())
		w.result.Seen = &w.seen
	case p.Watcher != nil && o.Trace != nil:
		w.seen = w.observer.Seen()
		w.seen.Handlers = append(race.Handlers(o.Trace), w.seen.Handlers...)
		slices.Sort(w.seen.Handlers)
		w.result.Seen = &w.seen
	}
	if w.result.Last && len(w.taken) > 0 {
		w.taken = w.taken[1:]
	}
	w.stopped = !w.done(&w.result)
	return !w.stopped
}

// over reports the first n plans taken as ended, because the target has moved on to a later plan or
// has none left.
func (w *localWork) over(n int) bool {
	for _, tag := range w.taken[:n] {
		w.result = Execution{Tag: tag, Last: true}
		if w.stopped = !w.done(&w.result); w.stopped {
			return false
		}
	}
	w.taken = w.taken[n:]
	return true
}
