package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/waiting"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// settles reports whether settle decides about an execution that heddle ended before it was over.
func (s *search) settles(e *trace.Ending) bool {
	return e.OutOfSteps() || cutByWatchdog(e) && walks(s.target, e)
}

// walks reports whether the only thread that could run when the watchdog ended an execution accessed memory without a scheduling point,
// as far as is known.
func walks(t target.Target, e *trace.Ending) bool {
	return hooked(t) && lone(e.Waiters)
}

// hooked reports whether the accesses of a program in C are seen.
func hooked(t target.Target) bool {
	h := t.Header()
	return h.Target == "c" && h.Instrumented
}

// lone reports whether one thread can run, and where it was.
func lone(threads []trace.Waiter) bool {
	running := slices.DeleteFunc(slices.Clone(threads), func(w trace.Waiter) bool { return !w.Ready })
	return len(running) == 1 && running[0].Site != 0
}

// walked decides about an execution that the watchdog ended. Where its last thread accesses memory again and again, one of
// the instructions that it comes to in each turn becomes a scheduling point. Then continued decides.
func (s *search) walked(ctx context.Context, t target.Target, p schedule.Plan, threads []trace.Waiter) (continuation, error) {
	silent := continuation{kind: trace.Unfinished}
	i := slices.IndexFunc(threads, func(w trace.Waiter) bool { return w.Ready })
	function := s.locate(threads[i].Site).Func
	p.Repeat, p.Stop, p.Watch, p.Record, p.Accesses, p.Values = 1, false, false, true, false, true
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	within := map[trace.Site]bool{}
	walk := waiting.NewWalk(func(site trace.Site) bool {
		is, ok := within[site]
		if !ok {
			is = function == "" || s.locate(site).Func == function
			within[site] = is
		}
		return is
	}, cancel)
	p.Watcher = walk
	_, err := t.Run(bounded, p)
	var cut *target.CutError
	switch {
	case ctx.Err() != nil:
		return silent, ctx.Err()
	case err == nil:
		return silent, nil
	case !errors.As(err, &cut):
		return silent, err
	}
	recorded := cut.Outcome.Trace
	site, passed := walk.Site()
	if site == 0 || recorded == nil {
		return silent, nil
	}
	q := replayPlan(recorded)
	q.Record, q.Mode, q.Script = false, schedule.Strict, withPasses(q.Script, site, passed)
	if q.Points = p.Sites(); !slices.Contains(q.Points, site) {
		q.Points = append(slices.Clone(q.Points), site)
	}
	return continued(ctx, t, q, &schedule.Outcome{Points: len(q.Script) + 1})
}

// withPasses adds the reads by an instruction, which was not a scheduling point when the script was recorded.
func withPasses(script []schedule.Step, site trace.Site, passed []waiting.Pass) []schedule.Step {
	with := make([]schedule.Step, 0, len(script)+len(passed))
	for i, step := range script {
		for len(passed) > 0 && passed[0].Decisions == i {
			with = append(with, schedule.Step{Thread: passed[0].Thread, Op: trace.OpRead, Site: site, Wake: -1})
			passed = passed[1:]
		}
		with = append(with, step)
	}
	return with
}

// The time of the watchdog need not pass for an execution of which another process shows that it does not end: expire looks at one whose
// only thread that can run has reached no scheduling point for expireAfter, and has a replica carry it out as well. So what the search
// finds does not depend on when it looks.
const (
	expireEvery = 250 * time.Millisecond
	expireAfter = time.Second
)

// expire lets executions expire that do not end. The function that it returns ends that.
func (s *search) expire(ctx context.Context) (stop func()) {
	r, ok := target.As[target.Replicator](s.target)
	if !ok || !hooked(s.target) {
		return func() {}
	}
	replica := r.Replica()
	if replica == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(expireEvery)
		defer tick.Stop()
		var at target.Position
		var of target.Positioned
		var since time.Time
		for looked := false; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, by := s.position()
			same := by == of && now.Execution == at.Execution
			if !same || now.Points != at.Points {
				since = time.Now()
			}
			at, of, looked = now, by, looked && same
			if by == nil || looked || time.Since(since) < expireAfter || !lone(at.Threads) {
				continue
			}
			looked = true
			if s.endlessBeside(ctx, replica, &at) {
				by.Expire(at)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// endlessBeside reports whether a replica shows that a running execution does not end.
func (s *search) endlessBeside(ctx context.Context, replica func(context.Context) (target.Target, error), at *target.Position) bool {
	t, err := replica(ctx)
	if err != nil {
		return false
	}
	defer t.Close()
	p := at.Plan
	p.Seed += uint64(at.Index)
	c, err := s.walked(ctx, t, p, at.Threads)
	return err == nil && (c.kind == trace.Hang || c.kind == trace.Livelock)
}
