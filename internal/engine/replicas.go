package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// replicas are further targets of a program, which start in the background. A plan gives the same
// execution on each, as long as the execution uses nothing outside of the program; one that is about
// to change a file ends as trace.Unsupported on a replica.
type replicas struct {
	known    []trace.Module // when they were started
	starting chan target.Target
	pending  int // of starting
	cancel   context.CancelFunc
	targets  []target.Target // that have started
}

// startReplicas starts n replicas of t. It returns nil if the program's executions share something.
func startReplicas(t target.Target, n int) *replicas {
	r, ok := target.As[target.Replicator](t)
	if !ok {
		return nil
	}
	replica := r.Replica()
	if replica == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &replicas{known: t.Modules(), starting: make(chan target.Target, n), pending: n, cancel: cancel}
	for range n {
		go func() {
			t, err := replica(ctx)
			if err != nil {
				t = nil // one that cannot be started is not needed
			}
			x.starting <- t
		}()
	}
	return x
}

// collect adds those that have started to targets; with wait, all of them.
func (x *replicas) collect(wait bool) {
	for x.pending > 0 && (wait || len(x.starting) > 0) {
		x.pending--
		if t := <-x.starting; t != nil {
			x.targets = append(x.targets, t)
		}
	}
}

// close ends them.
func (x *replicas) close() {
	x.cancel()
	x.collect(true)
	for _, t := range x.targets {
		t.Close()
	}
	x.targets = nil
}

// foreign reports whether an execution loaded a library that was not known when the replicas were
// started, and so may have another number in each of them.
func (x *replicas) foreign(modules []trace.Module) bool { return len(modules) > len(x.known) }

// squad has an exploration run on several targets at once: replicas, while the target itself rests.
// The first execution that a replica cannot make dismisses them, and the target makes it again: what
// the exploration finds does not depend on the squad.
type squad struct {
	size     int
	asked    chan struct{}                   // closed when the replicas have started, or none will
	replicas *replicas                       // to be used once asked is closed
	due      atomic.Bool                     // it is time to ask for them
	working  atomic.Pointer[[]target.Target] // those of the workers that join returned
	joined   bool
	over     bool
	eager    bool // start them at once, and wait for them; for tests
}

// musterAfter is how long an exploration takes before it starts replicas: most are over by then.
const musterAfter = crewAfter

// prepare lets a squad of that size be mustered after a while. The function it returns ends the squad.
func (q *squad) prepare(size int, after time.Duration) (end func()) {
	q.size, q.over = size, size < 2
	if q.over {
		return func() {}
	}
	if q.eager {
		after = 0
		q.due.Store(true)
	}
	timer := time.AfterFunc(after, func() { q.due.Store(true) })
	return func() {
		timer.Stop()
		q.dismiss()
	}
}

// muster begins to start replicas in the background, if it is time.
func (q *squad) muster(t target.Target) {
	if q.over || q.asked != nil || !q.due.Load() {
		return
	}
	q.asked = make(chan struct{})
	q.replicas = startReplicas(t, q.size)
	if q.replicas == nil {
		close(q.asked)
		return
	}
	go func() {
		defer close(q.asked)
		q.replicas.collect(true)
	}()
}

// waits reports whether replicas have started that do not work yet.
func (q *squad) waits() bool {
	if q.over || q.joined || q.asked == nil {
		return false
	}
	if q.eager {
		<-q.asked
	}
	select {
	case <-q.asked:
		q.over = q.replicas == nil || len(q.replicas.targets) < 2
		return !q.over
	default:
		return false
	}
}

// join returns workers for the replicas.
func (q *squad) join() (all []Worker) {
	q.joined = true
	working := slices.Clone(q.replicas.targets)
	q.working.Store(&working)
	for _, t := range q.replicas.targets {
		all = append(all, &recruit{Local(t), t, q.replicas})
	}
	return all
}

// dismiss ends the replicas. They must not be executing anything.
func (q *squad) dismiss() {
	if q.asked != nil {
		<-q.asked
		q.working.Store(nil)
		if q.replicas != nil {
			q.replicas.close()
		}
		q.asked = nil
	}
	q.over = true
}

// position returns where the execution is that has run for the longest time, and the target that carries it out: s.target or a replica
// at work; nil if none has run for long. It may be called from any goroutine.
func (s *search) position() (at target.Position, by target.Positioned) {
	all := []target.Target{s.target}
	if working := s.squad.working.Load(); working != nil {
		all = append(all, *working...)
	}
	for _, t := range all {
		if p, can := target.As[target.Positioned](t); can {
			if now, long := p.Position(); long && now.For > at.For {
				at, by = now, p
			}
		}
	}
	return at, by
}

// recruit is the worker of a replica. It ends the exploration instead of reporting an outcome that may
// differ from the target's.
type recruit struct {
	Worker
	target target.Target
	squad  *replicas
}

// usable reports whether the target itself would give the same outcome.
func (r *recruit) usable(o *schedule.Outcome) bool {
	return o == nil || !o.External && !o.Shared && o.Ending.Kind != trace.Unsupported && o.Ending.Kind != trace.Diverged && !r.squad.foreign(r.target.Modules()) &&
		(o.Trace == nil || !outside(o) && !r.squad.foreign(o.Trace.Modules))
}
