package engine

import (
	"context"
	"errors"
	"slices"

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
	if h := t.Header(); h.Target != "c" || !h.Instrumented {
		return false
	}
	running := slices.DeleteFunc(slices.Clone(e.Waiters), func(w trace.Waiter) bool { return !w.Ready })
	return len(running) == 1 && running[0].Site != 0
}

// walked decides about an execution that the watchdog ended. Where its last thread accesses memory again and again, one of
// the instructions that it comes to in each turn becomes a scheduling point. Then continued decides.
func (s *search) walked(ctx context.Context, f *failure) (continuation, error) {
	silent := continuation{kind: trace.Unfinished}
	i := slices.IndexFunc(f.outcome.Ending.Waiters, func(w trace.Waiter) bool { return w.Ready })
	function := s.locate(f.outcome.Ending.Waiters[i].Site).Func
	p := f.plan
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
	_, err := s.target.Run(bounded, p)
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
	return continued(ctx, s.target, q, &schedule.Outcome{Points: len(q.Script) + 1})
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
