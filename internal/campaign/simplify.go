package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/trace"
)

// Simplify looks for an execution with fewer context switches that fails as the recorded
// one does, and follows the result strictly from its script to make sure of it.
//
// If it is cut short, by the options, an error or the context, the result is the simplest
// execution found so far and Complete is false. The error is nil after running into the
// options' bounds; else it is that of the target or the context,
// tinertia.ErrNotReproduced if the recorded schedule does not lead to the failure, or a
// *DivergedError if the result does not replay. The result is nil where there is nothing
// to show.
func Simplify(ctx context.Context, t target.Target, recorded *trace.Trace, opts SimplifyOptions, progress func(tinertia.Progress)) (*Simplified, error) {
	if !recorded.Ending.Kind.Failed() {
		return nil, fmt.Errorf("there is no failure in the trace to keep: the execution ended with %v", recorded.Ending.Kind)
	}
	if err := fits(t, recorded); err != nil {
		return nil, err
	}
	bounded := ctx
	if opts.Time > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeoutCause(ctx, opts.Time, errTime)
		defer cancel()
	}
	modules := t.Modules()
	goal := finding.Of(recorded.Ending, modules)
	seed, _ := strategy.SeedOf(recorded.Header.Strategy)
	began := time.Now()
	details, err := tinertia.Simplify(bounded, tinertia.Input{
		Trace: recorded,
		Same:  func(e trace.Ending) bool { return goal.Same(finding.Of(e, modules)) },
	}, judged(t, recorded.Header.ExpectStatus), tinertia.Options{
		Seed: seed, MaxSteps: opts.MaxSteps, MaxExecutions: opts.Executions, Progress: progress,
	})
	if err != nil && ctx.Err() == nil && context.Cause(bounded) == errTime {
		err = nil
	}
	if details == nil || errors.Is(err, tinertia.ErrNotReproduced) {
		return nil, err
	}
	result := details.Trace
	result.Header.Strategy = "simplified from " + recorded.Header.Strategy
	result.Header.ExpectStatus = recorded.Header.ExpectStatus
	s := &Simplified{
		Events: details.After.Events, Threads: details.After.Threads,
		Switches: details.After.Switches, Preemptions: details.After.Preemptions,
		Executions: details.Table2.Executions, Complete: details.Complete,
		Details: details, Recorded: result,
	}
	if err == nil {
		_, err = Replay(ctx, t, result)
	}
	s.Seconds = time.Since(began).Seconds()
	return s, err
}

// simplify simplifies the finding.
func (c *campaign) simplify(ctx context.Context, t *trace.Trace) error {
	opts := c.opts.Simplify
	if opts.MaxSteps == 0 {
		opts.MaxSteps = c.opts.MaxSteps
	}
	cost := trace.CostOf(t.Events)
	c.tell(Simplifying, true, &cost, 0)
	s, err := Simplify(ctx, c.target, t, opts, func(p tinertia.Progress) { c.tell(Simplifying, false, &p.Cost, p.Executions) })
	var d *DivergedError
	switch {
	case errors.Is(err, tinertia.ErrNotReproduced):
		c.note("not simplified: %v", err)
		return nil
	case errors.As(err, &d):
		// It was executed, but from another script: better none than one that does not
		// replay.
		c.note("not simplified: the simplified execution does not replay: %v", d)
		return nil
	case s == nil:
		return err
	}
	if c.opts.SimplifiedFile != "" {
		s.Recorded.Header.Original = c.opts.TraceFile
		if err := trace.WriteFile(c.opts.SimplifiedFile, s.Recorded); err != nil {
			return err
		}
		s.Trace = c.opts.SimplifiedFile
	}
	c.report.Simplified = s
	return err
}
