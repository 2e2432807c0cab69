package campaign

import (
	"context"
	"fmt"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// confirm makes sure of a failure and reports it. It returns false if the failure did not
// come again; then the exploration goes on.
func (c *campaign) confirm(ctx context.Context, f *failure) (found bool, err error) {
	c.tell(Confirming, true, nil, 0)
	original := finding.Of(f.outcome.Ending, c.target.Modules())
	o := f.outcome
	if o.Trace == nil || o.Shared {
		p := f.plan
		p.Record = true
		v := verdict{expect: c.expect, where: func(s trace.Site) string { return c.where(s, false) }}
		if v.races = original.Kind == trace.Race; v.races {
			v.like = &f.outcome.Ending
		}
		if o, err = judged(c.target, v)(ctx, p); err != nil {
			return false, err
		}
		if !original.Same(finding.Of(o.Ending, c.target.Modules())) {
			c.missing(f, fmt.Sprintf("its plan, run again, ended with %s", c.ending(o)))
			return false, nil
		}
	}
	now := finding.Of(o.Ending, c.target.Modules()) // with a stack, where the first had none
	r := &Finding{
		Kind: now.Kind.String(), Message: now.Message, Where: c.where(now.Site, now.Exact),
		Strategy: strategy.Describe(f.plan), Execution: f.number, Threads: []int{},
	}
	if as := o.Ending.Accesses; len(as) == 2 {
		side := func(a trace.Access) Access { return Access{a.Op.String(), a.Site, c.where(a.Site, false)} }
		r.Race = &Race{side(as[0]), side(as[1]), uint64(as[0].Object), as[0].Size}
	}
	for _, t := range now.Threads {
		r.Threads = append(r.Threads, int(t))
	}
	if o.Trace == nil {
		// Killed by the watchdog: it failed twice, and there is no more to be had.
		c.note("the execution could not be recorded, because the program had to be killed")
		c.report.Finding = r
		return true, nil
	}
	t := o.Trace
	t.Header.Strategy, t.Header.ExpectStatus = r.Strategy, c.expect
	if _, err := Replay(ctx, c.target, t); err != nil {
		d, ok := err.(*DivergedError)
		if !ok {
			return false, err
		}
		c.missing(f, d.Error())
		return false, nil
	}
	cost := trace.CostOf(t.Events)
	r.Recorded, r.Events, r.Switches, r.Preemptions = t, cost.Events, cost.Switches, cost.Preemptions
	c.report.Finding = r
	if c.opts.TraceFile != "" {
		if err := trace.WriteFile(c.opts.TraceFile, t); err != nil {
			return true, err
		}
		r.Trace = c.opts.TraceFile
	}
	if c.opts.NoSimplify {
		return true, nil
	}
	return true, c.simplify(ctx, t)
}

// missing counts a failure that did not come again.
func (c *campaign) missing(f *failure, why string) {
	c.report.NotReproduced++
	c.note("not reproduced: execution %d (%s) ended with %s; %s", f.number, strategy.Describe(f.plan), c.ending(f.outcome), why)
}

func (c *campaign) ending(o schedule.Outcome) string {
	if !o.Ending.Kind.Failed() {
		return fmt.Sprintf("%v (status %d)", o.Ending.Kind, o.Ending.Status)
	}
	f := finding.Of(o.Ending, c.target.Modules())
	return fmt.Sprintf("%v: %s at %s", f.Kind, f.Message, c.where(f.Site, f.Exact))
}
