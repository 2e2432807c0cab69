// Package corpus tries the findings that earlier searches of a program have kept before it searches
// for new ones.
package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/kept"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/trace"
)

// Options configure Find.
type Options struct {
	Dir     string // of the corpus
	Program string // name of the program; each has a directory in Dir
	Prune   bool   // remove findings that no longer fail
}

// Find is engine.Find with a corpus. It follows the schedules of the kept findings first, the worst
// first, as closely as the program lets it. If one fails again, it is the finding, and Find searches
// for others only with engine.Options.All. New findings are added to the corpus. Without a Dir, it
// is engine.Find.
func Find(ctx context.Context, t target.Target, opts engine.Options, o Options, progress func(engine.Progress)) (*result.Kept, *engine.Report, error) {
	if o.Dir == "" {
		r, err := engine.Find(ctx, t, opts, progress)
		return nil, r, err
	}
	c := &corpus{target: t, opts: &opts, kept: kept.In(o.Dir, o.Program), out: &result.Kept{Dir: o.Dir}, began: time.Now()}
	bounded, cancel := engine.Limited(ctx, opts.Time)
	defer cancel()
	err := c.retry(bounded)
	if err != nil && engine.OutOfTime(bounded) {
		c.note("not all kept findings were tried: the time limit was reached")
		err = nil
	}
	if err != nil || len(c.known) > 0 && !opts.All {
		return c.out, c.report(err), err
	}
	search := opts
	if opts.Time > 0 {
		search.Time = max(opts.Time-time.Since(c.began), time.Millisecond)
	}
	for _, f := range c.known {
		search.Ignore = append(slices.Clip(search.Ignore), f.Finding.Key)
	}
	r, err := engine.Find(ctx, t, search, progress)
	fresh, only := r.Findings, &engine.Found{Finding: r.Finding, Simplified: r.Simplified}
	switch {
	case opts.All:
		c.merge(r)
	case r.Finding != nil:
		fresh = []engine.Found{*only}
	}
	err = errors.Join(err, c.add(fresh))
	if r.Outcome == engine.Nothing || opts.All {
		err = errors.Join(err, c.settle(o.Prune))
	}
	return c.out, r, err
}

// corpus is a Find in progress.
type corpus struct {
	target target.Target
	opts   *engine.Options
	kept   kept.Findings
	out    *result.Kept
	tried  int
	known  []engine.Found // failed again
	fixed  []fixed        // did not
	began  time.Time
}

// fixed is a kept schedule that no longer fails.
type fixed struct{ name, key string }

// retry follows the kept schedules, the worst failures first; unless all are wanted, until one fails.
func (c *corpus) retry(ctx context.Context) error {
	type file struct {
		name string
		tr   *trace.Trace
	}
	var files []file
	for _, name := range c.kept.Files() {
		tr, err := tracefile.Read(name)
		if err != nil {
			// A newer version of heddle may have written it.
			c.note("not tried: %v", err)
			continue
		}
		if c.concerns(tr) {
			files = append(files, file{name, tr})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int {
		return finding.Severity(a.tr.Ending.Kind) - finding.Severity(b.tr.Ending.Kind)
	})
	for _, f := range files {
		again, err := c.follow(ctx, f.name, f.tr)
		if err != nil {
			return err
		}
		if again != nil {
			c.known = append(c.known, *again)
			if !c.opts.All {
				break
			}
		}
	}
	return nil
}

// concerns reports whether a kept trace is of the program with these arguments and this input, and
// its kind of failure counts in this search. The build may differ.
func (c *corpus) concerns(tr *trace.Trace) bool {
	a, b := tr.Header, c.target.Header()
	switch tr.Ending.Kind {
	case trace.Race:
		if c.opts.Races == engine.RacesIgnored {
			return false
		}
	case trace.WrongOutput:
		if b.ExpectOutput == nil && b.Oracle == "" {
			return false
		}
	}
	if a.Target != b.Target || string(a.Stdin) != string(b.Stdin) || !slices.Equal(a.Omit, b.Omit) || !slices.Equal(a.TryLock, b.TryLock) {
		return false
	}
	if a.Recipe != nil && b.Recipe != nil {
		return slices.Equal(a.Recipe.Packages, b.Recipe.Packages) && slices.Equal(a.Recipe.Args, b.Recipe.Args)
	}
	return len(a.Command) > 0 && len(b.Command) > 0 && slices.Equal(a.Command[1:], b.Command[1:])
}

// follow follows one kept schedule, judged as this search judges, and returns the failure, or nil if
// it does not fail any more or is to be ignored. The recording of another build is replaced by one
// of this build, which replays exactly.
func (c *corpus) follow(ctx context.Context, name string, tr *trace.Trace) (*engine.Found, error) {
	h := c.target.Header()
	tr.Header.ExpectOutput, tr.Header.Oracle, tr.Header.ExpectStatus = h.ExpectOutput, h.Oracle, 0
	if e := c.opts.ExpectStatus; e != nil {
		tr.Header.ExpectStatus = *e
	}
	met, changed, err := launch.Follow(ctx, c.target, tr)
	var unsupported *engine.UnsupportedError
	switch {
	case errors.Is(err, trace.ErrPoints), errors.As(err, &unsupported):
		c.note("not tried: %s: %v", name, err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.tried++
	f := result.OfTrace(met, c.target)
	switch {
	case met.Ending.Kind == trace.Unfinished:
		c.note("not decided: %s: the execution did not end (%s)", name, met.Ending.Message)
		return nil, nil
	case !met.Ending.Kind.Failed():
		c.fixed = append(c.fixed, fixed{name, tr.Header.Finding})
		return nil, nil
	case slices.Contains(c.opts.Ignore, f.Key), slices.ContainsFunc(c.known, func(k engine.Found) bool { return k.Finding.Key == f.Key }):
		return nil, nil
	}
	if changed {
		if _, err := engine.Replay(ctx, c.target, met); err != nil {
			// Left to the search: a finding has to replay.
			c.note("%s: it failed again, but its replay did not: %v", name, err)
			return nil, nil
		}
		met.Header.Finding = f.Key
		if name, err = c.replace(name, met); err != nil {
			return nil, err
		}
	}
	out := c.found(name, f, met)
	if c.opts.Why != nil {
		out.Finding.Why = engine.Recall(ctx, c.target, met, c.opts.Why)
	}
	return out, nil
}

// replace keeps a recording in place of the file name.
func (c *corpus) replace(name string, met *trace.Trace) (string, error) {
	now, _, err := c.kept.Keep(met)
	if err == nil && now != name {
		err = os.Remove(name)
	}
	if err != nil {
		return now, err
	}
	c.note("%s was recorded of another build: its schedule was followed as far as it goes, and %s has the execution of this build", name, now)
	return now, nil
}

// found returns the finding that a kept schedule shows again.
func (c *corpus) found(name string, f *result.Finding, met *trace.Trace) *engine.Found {
	cost := trace.CostOf(met.Events)
	out := &engine.Finding{
		Confirmed: true, Known: true, Key: f.Key, Kind: f.Kind, Message: f.Message, Where: f.Where, Strategy: f.Strategy,
		Trace: name, Events: cost.Events, Switches: cost.Switches, Preemptions: cost.Preemptions, Recorded: met, Threads: []int{},
	}
	for _, id := range finding.Of(met.Ending, met.Modules).Threads {
		out.Threads = append(out.Threads, int(id))
	}
	if why := report.Saved(met); why != nil && why.Line != "" {
		out.Why = why
	}
	if as := met.Ending.Accesses; len(as) == 2 && len(f.Race) == 2 {
		out.Race = &engine.Race{
			First:  engine.Access{Op: f.Race[0].Op, Site: as[0].Site, Where: f.Race[0].Where},
			Second: engine.Access{Op: f.Race[1].Op, Site: as[1].Site, Where: f.Race[1].Where},
			Object: uint64(as[0].Object), Size: as[0].Size,
			Name: report.NewRunning(c.target.Modules).Object(met, as[0].Object, as[0].Size, len(met.Events)),
		}
	}
	return &engine.Found{Finding: out, Executions: 1}
}

// report returns the result of a search that a kept finding ended, or an error.
func (c *corpus) report(err error) *engine.Report {
	h := c.target.Header()
	r := &engine.Report{Outcome: engine.Failed, Ended: engine.ByError, Executions: c.tried, Races: []engine.Race{}, Instrumented: h.Instrumented, Notes: c.out.Notes, Seconds: time.Since(c.began).Seconds()}
	if c.opts.ExpectStatus != nil {
		r.ExpectStatus = *c.opts.ExpectStatus
	}
	c.out.Notes = nil
	if errors.Is(err, context.Canceled) {
		r.Outcome, r.Ended = engine.Interrupted, engine.ByInterrupt
	}
	if len(c.known) > 0 {
		r.Outcome, r.Finding = engine.Bug, c.known[0].Finding
		if err == nil {
			r.Ended = engine.ByFailure
		}
	}
	return r
}

// merge puts the known findings before those of the search, which counted only their executions.
func (c *corpus) merge(r *engine.Report) {
	if len(c.known) == 0 {
		return
	}
	for k := range c.known {
		f := &c.known[k]
		if i := slices.IndexFunc(r.Ignored, func(x engine.Ignored) bool { return x.Key == f.Finding.Key }); i >= 0 {
			f.Executions += r.Ignored[i].Executions
			r.Ignored = slices.Delete(r.Ignored, i, i+1)
		}
	}
	r.Findings = append(slices.Clone(c.known), r.Findings...)
	r.Finding, r.Simplified = r.Findings[0].Finding, r.Findings[0].Simplified
	r.Outcome = engine.Bug
}

// add keeps new findings, simplified if possible.
func (c *corpus) add(fresh []engine.Found) error {
	for i := range fresh {
		f := &fresh[i]
		tr := f.Finding.Recorded
		if s := f.Simplified; s != nil && s.Confirmed {
			tr = s.Recorded
		}
		if tr == nil || !f.Finding.Confirmed {
			continue
		}
		name, _, err := c.kept.Keep(tr)
		if err != nil {
			return err
		}
		c.out.Added = append(c.out.Added, name)
		if err := c.supersede(f.Finding.Key, name); err != nil {
			return err
		}
	}
	return nil
}

// supersede removes kept schedules of a finding that no longer lead to it, since name does.
func (c *corpus) supersede(key, name string) error {
	for i := 0; i < len(c.fixed); i++ {
		old := c.fixed[i]
		if old.key == "" || old.key != key {
			continue
		}
		c.fixed = slices.Delete(c.fixed, i, i+1)
		i--
		if old.name == name {
			continue
		}
		if err := os.Remove(old.name); err != nil {
			return fmt.Errorf("cannot remove a schedule that no longer fails: %w", err)
		}
		c.note("the schedule in %s no longer led to the finding: %s takes its place", old.name, name)
	}
	return nil
}

// settle reports the findings that no longer fail, after a search without one of them.
func (c *corpus) settle(prune bool) error {
	for _, f := range c.fixed {
		c.out.Fixed = append(c.out.Fixed, f.name)
		if prune {
			if err := os.Remove(f.name); err != nil {
				return fmt.Errorf("cannot remove a schedule that no longer fails: %w", err)
			}
		}
	}
	return nil
}

func (c *corpus) note(format string, args ...any) {
	c.out.Notes = append(c.out.Notes, fmt.Sprintf(format, args...))
}
