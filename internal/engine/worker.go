package engine

import (
	"context"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
)

// Worker carries out plans for an exploration: in a process of this machine, in several, or on
// another machine. All workers of a search run the same build with the same libraries, so that
// sites mean the same to all of them, and a plan gives the same execution whoever runs it.
type Worker interface {
	// Work takes jobs from next and calls done with their results. The results of one job come
	// in the order of its executions, and the last one says so; those of different jobs may
	// come in any order. Work takes as many jobs as it likes before the first is done. When next
	// returns false there is no job for now: Work asks again after it has called done, and
	// returns nil when it has no job left and next returns false.
	//
	// When done returns false no further result is wanted. Work then returns nil as soon as it
	// can take jobs again at the next call, whether it has carried out all that it took or not.
	//
	// next and done may be called from one goroutine at a time. An error says that the worker
	// cannot go on, or is the context's.
	Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error
}

// Job is a plan to be carried out. Its Tag tells it from the other jobs of the search.
type Job struct {
	Plan schedule.Plan
	// Observe asks for Execution.Seen of executions that are recorded.
	Observe bool
}

// Execution is what became of one execution of a job, valid until the call of done returns, except
// the trace.
type Execution struct {
	Tag uint64 // the plan's
	// Outcome is nil if the plan ended before the executions that it asked for. Then Last is
	// true.
	Outcome *schedule.Outcome
	Last    bool // no other result of the job follows
	Seen    *observe.Observation
}

// Local returns the worker that carries out plans in a target of this process.
func Local(t target.Target) Worker { return &local{target: t} }

type local struct {
	target   target.Target
	observer observe.Observer
}

// Work implements Worker.
func (l *local) Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
	w := &localWork{done: done, observer: &l.observer}
	err := l.target.Stream(ctx, func() (schedule.Plan, bool) {
		j, ok := next()
		if !ok {
			return schedule.Plan{}, false
		}
		if j.Observe {
			j.Plan.Watcher = &l.observer
		}
		w.taken = append(w.taken, j.Plan.Tag)
		return j.Plan, true
	}, w.outcome)
	if err == nil && !w.stopped {
		w.over(len(w.taken))
	}
	return err
}

// localWork is one call of Work. Targets end plans in the order in which they took them.
type localWork struct {
	done     func(*Execution) bool
	observer *observe.Observer
	taken    []uint64 // tags of the plans that have not ended
	stopped  bool
	result   Execution
	seen     observe.Observation
	out      schedule.Outcome
}

// outcome is the target's done.
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
	if p.Watcher != nil && o.Trace != nil {
		w.seen = w.observer.Seen()
		w.result.Seen = &w.seen
	}
	if w.result.Last && len(w.taken) > 0 {
		w.taken = w.taken[1:]
	}
	w.stopped = !w.done(&w.result)
	return !w.stopped
}

// over reports the first n plans taken as ended: the target has gone on to another one, or has
// none left.
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
