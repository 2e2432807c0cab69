package gotest

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target"
)

const (
	// furtherAfter is how long a test is explored before further processes are started: the
	// exploration of most tests ends sooner, or nearly so.
	furtherAfter = 300 * time.Millisecond
	// furtherPause is how long a process that is not started yet leaves a plan to the others.
	furtherPause = 5 * time.Millisecond
)

// further is a worker on a target of its own, which it starts once the exploration has lasted for
// furtherAfter. If the target cannot be started, the worker takes no plans.
type further struct {
	first  target.Target // whose isolation it shares
	start  func(context.Context) (target.Target, error)
	after  time.Time
	target target.Target
	worker engine.Worker
	failed bool
}

// Work implements engine.Worker.
func (f *further) Work(ctx context.Context, next func() (engine.Job, bool), done func(*engine.Execution) bool) error {
	if f.worker == nil && (f.failed || time.Now().Before(f.after)) {
		time.Sleep(furtherPause)
		return nil
	}
	if f.worker == nil {
		t, err := f.start(ctx)
		if err != nil {
			f.failed = true
			return ctx.Err()
		}
		f.target, f.worker = t, engine.Local(t)
	}
	if i, ok := target.As[target.Isolator](f.first); ok {
		target.Isolate(f.target, i.Isolation())
	}
	return f.worker.Work(ctx, next, done)
}

func (f *further) close() {
	if f.target != nil {
		f.target.Close()
	}
}

// find searches the schedules of a test on t and on targets that start starts, as many as
// Options.Processes. The tests of a package may use the same files and ports in each process, and in
// one that is started before it is needed. So if executions failed and none failed again alone, find
// searches again, with one process at a time. Failures for which time ran out do not show that.
func (s *suite) find(ctx context.Context, t target.Target, opts engine.Options, start func(context.Context) (target.Target, error), progress func(engine.Progress)) (*engine.Report, error) {
	several := opts
	var all []*further
	if s.options.Processes > 1 {
		several.Workers = []engine.Worker{engine.Local(t)}
	}
	after := time.Now().Add(furtherAfter)
	for range s.options.Processes - 1 {
		f := &further{first: t, start: start, after: after}
		all = append(all, f)
		several.Workers = append(several.Workers, f)
	}
	found, err := engine.Find(ctx, t, several, progress)
	for _, f := range all {
		f.close() // it may be in the middle of an execution
	}
	solitary, ok := target.As[target.Solitary](t)
	if err != nil || found.Finding != nil || found.NotReproduced == found.Undecided || !ok && len(all) == 0 {
		return found, err
	}
	if ok {
		solitary.Alone()
	}
	alone, err := engine.Find(ctx, t, opts, progress)
	alone.Notes = append(alone.Notes, "executions failed while other processes ran the test, and none failed again alone: searched again with one process at a time")
	return alone, err
}
