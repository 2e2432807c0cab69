package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// crewAfter is how long a simplification takes before it starts further processes: most are
	// over by then.
	crewAfter = 100 * time.Millisecond
	// crewQueue is how many plans a target has at a time, so that none waits for another target's.
	crewQueue = 2
	// sharers is the least number of plans that are executed in a process before the first is judged,
	// on a target whose executions can share one. A process takes much longer to start than to execute
	// a few plans, and too many would be executed in vain if the first is accepted.
	sharers = 6
)

// crew executes the plans of a simplification on several targets of one program at once. A plan gives
// the same execution on each of them, so the outcomes depend neither on the number of targets nor on
// which of them is faster.
//
// That holds for an execution that uses nothing outside of the program, whatever the others do. When
// one has used files, for instance, the crew drops its outcome, and executes its plan and all later
// ones on one target.
type crew struct {
	target target.Target
	oracle verdict
	judge  sync.Mutex
	size   int // targets wanted
	began  time.Time
	eager  bool // start the others at once, and wait for them; for tests

	others *replicas // beside target; nil before they are started
	alone  bool      // executions may disturb one another
	shares bool      // they share a process nevertheless, which is cheap
}

// newCrew returns a crew of at most opts.Processes targets, t included. The others are started when the
// simplification takes long.
func newCrew(t target.Target, oracle verdict, opts *SimplifyOptions) *crew {
	c := &crew{target: t, oracle: oracle, size: opts.Processes, began: time.Now(), eager: opts.eager}
	if _, ok := target.As[target.Replicator](t); !ok {
		c.alone, c.shares = true, target.Shares(t)
	}
	return c
}

// width returns how many plans execute at a time at present, or share a process.
func (c *crew) width() int {
	if c.shares && target.Shares(c.target) {
		return sharers
	}
	if c.alone || c.size < 2 || !c.eager && time.Since(c.began) < crewAfter {
		return 1
	}
	if c.others == nil {
		if c.others = startReplicas(c.target, c.size-1); c.others == nil {
			c.alone = true
			return 1
		}
	}
	c.others.collect(c.eager)
	return 1 + len(c.others.targets)
}

// close ends the other targets.
func (c *crew) close() {
	if c.others != nil {
		c.others.close()
	}
	c.alone = true
}

// batch implements tinertia.Batch.
func (c *crew) batch(ctx context.Context, plans []schedule.Plan, look func(int, *schedule.Outcome), done func(int, schedule.Outcome) bool) error {
	if look == nil {
		look = func(int, *schedule.Outcome) {}
	}
	first := 0
	if len(plans) > 1 && !c.alone && c.width() > 1 {
		n, err := c.together(ctx, plans, look, done)
		if err != nil || n == len(plans) {
			return err
		}
		c.close()
		first = n
	}
	given, ended := first, first
	watches := target.Watches(c.target)
	var undecided error
	err := c.target.Stream(ctx, func() (schedule.Plan, bool) {
		if given == len(plans) {
			return schedule.Plan{}, false
		}
		given++
		return c.oracle.prepared(plans[given-1], watches), true
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		if undecided = c.oracle.judge(ctx, p, &o); undecided != nil {
			return false
		}
		look(ended, &o)
		if outside(&o) {
			c.alone = true
		}
		c.shares = c.shares && !o.External
		ended++
		return done(ended-1, o)
	})
	return cmp.Or(undecided, err)
}

// watched returns an executor that notices what executions of exec use.
func (c *crew) watched(exec schedule.Executor) schedule.Executor {
	return func(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
		o, err := exec(ctx, p)
		c.alone = c.alone || err == nil && outside(&o)
		c.shares = c.shares && !o.External
		return o, err
	}
}

// together executes plans on all targets at once, until done returns false. It returns the number of
// the first plan whose outcome cannot be used, or len(plans).
func (c *crew) together(ctx context.Context, plans []schedule.Plan, look func(int, *schedule.Outcome), done func(int, schedule.Outcome) bool) (int, error) {
	all := append([]target.Target{c.target}, c.others.targets...)
	r := &round{outcomes: make([]*schedule.Outcome, len(plans)), left: len(all)}
	r.changed.L = &r.mu
	errs := make([]error, len(all))
	for k, t := range all {
		go func() {
			errs[k] = c.work(ctx, t, r, plans, look)
			r.finished()
		}()
	}
	n := 0
	for ; n < len(plans); n++ {
		o := r.wait(n)
		if o == nil || outside(o) || o.Trace == nil || c.others.foreign(o.Trace.Modules) {
			break
		}
		if !done(n, *o) {
			n = len(plans)
			break
		}
	}
	r.end()
	return n, cmp.Or(errs[0], ctx.Err())
}

// work executes plans of a round on one target.
func (c *crew) work(ctx context.Context, t target.Target, r *round, plans []schedule.Plan, look func(int, *schedule.Outcome)) error {
	watches := target.Watches(t)
	var taken []int
	var undecided error
	err := t.Stream(ctx, func() (schedule.Plan, bool) {
		if len(taken) == crewQueue {
			return schedule.Plan{}, false
		}
		n, ok := r.take()
		if !ok {
			return schedule.Plan{}, false
		}
		taken = append(taken, n)
		return c.oracle.prepared(plans[n], watches), true
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		c.judge.Lock()
		undecided = c.oracle.judge(ctx, p, &o)
		c.judge.Unlock()
		if undecided != nil {
			return false
		}
		n := taken[0]
		taken = taken[1:]
		look(n, &o)
		r.put(n, &o)
		return true
	})
	return cmp.Or(undecided, err)
}

// round is the state of crew.together that its goroutines share.
type round struct {
	mu       sync.Mutex
	changed  sync.Cond
	outcomes []*schedule.Outcome // nil until known
	next     int                 // plan to execute next
	left     int                 // targets that may still execute plans
}

// take returns the next plan to execute.
func (r *round) take() (n int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == len(r.outcomes) {
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

func (r *round) put(n int, o *schedule.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes[n] = o
	r.changed.Broadcast()
}

// finished says that a target executes no more plans.
func (r *round) finished() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left--
	r.changed.Broadcast()
}

// wait returns the outcome of plan n, or nil if none executes it any more.
func (r *round) wait(n int) *schedule.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.outcomes[n] == nil && r.left > 0 {
		r.changed.Wait()
	}
	o := r.outcomes[n]
	r.outcomes[n] = nil
	return o
}

// end lets no further plan be executed, and waits for those that are.
func (r *round) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = len(r.outcomes)
	for r.left > 0 {
		r.changed.Wait()
	}
}

// outside reports whether an execution may have used something that executions of other processes
// can change, or changed something that they use.
func outside(o *schedule.Outcome) bool {
	if o.External || o.Shared || o.Ending.Kind == trace.Unsupported || o.Trace == nil || o.Trace.Header.Isolation != "" {
		return true
	}
	return slices.ContainsFunc(o.Trace.Events, func(e trace.Event) bool {
		kind, fd, ok := e.Object.Channel()
		switch e.Op {
		case trace.OpFdOpen, trace.OpFdCtl:
			return !ok || kind == trace.ChannelFile || kind == trace.ChannelExternal
		case trace.OpProcessStart, trace.OpExternal:
			return true
		}
		return ok && (kind == trace.ChannelFile || kind == trace.ChannelExternal) && fd > 2
	})
}
