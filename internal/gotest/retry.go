package gotest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

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

// again is the result of replaying the kept schedules of a test: the worst failure among them, and
// the schedules that no longer fail.
type again struct {
	name    string // file of the failure, empty if none failed
	met     *trace.Trace
	changed bool // it was recorded from another build, or ended differently
	// rejudged says that other oracles judged the recording.
	rejudged bool
	fixed    []string
	// With --all, every failure of a kept schedule, one for each key.
	known []knownFinding
	// passed are the executions that showed findings of --ignore, by key.
	passed map[string]int
}

// knownFinding is a kept finding that occurred again.
type knownFinding struct {
	found result.Distinct
	key   string
}

// keys returns the keys of the known findings.
func (g *again) keys() (keys []string) {
	for _, f := range g.known {
		keys = append(keys, f.key)
	}
	return keys
}

// report puts the known findings before those of the search, which counted only their executions.
func (g *again) report(out *result.Test, t target.Target) {
	if len(g.known) == 0 {
		return
	}
	var known []result.Distinct
	for _, f := range g.known {
		i := slices.IndexFunc(out.Ignored, func(x engine.Ignored) bool { return x.Key == f.key })
		if i >= 0 {
			f.found.Executions += out.Ignored[i].Executions
			out.Ignored = slices.Delete(out.Ignored, i, i+1)
		}
		known = append(known, f.found)
	}
	out.Findings = append(known, out.Findings...)
	first := &out.Findings[0]
	out.Outcome, out.Finding, out.Trace, out.Shown, out.Known, out.Changed = result.Found, first.Finding, first.Trace, first.Shown, true, first.Changed
	out.Simplified = nil
}

func (g *again) finding() bool { return g.name != "" }

func (g *again) leak() bool { return g.finding() && g.met.Ending.Kind == trace.Leak }

// retry runs the kept schedules of a test, the worst failures first, until one fails with more than
// a leak.
func (s *suite) retry(ctx context.Context, t target.Target, k kept.Findings, names *report.Running, u unit, out *result.Test) (g again, err error) {
	g.passed = map[string]int{}
	type recorded struct {
		name     string
		tr       *trace.Trace
		rejudged bool
	}
	var all []recorded
	for _, name := range k.Files() {
		tr, err := tracefile.Read(name)
		if err != nil {
			// A newer version of heddle may have written it.
			note(out, "not tried: %v", err)
			continue
		}
		if s.options.Explore.NoEarlyTimeouts && tr.Overtakings() > 0 {
			note(out, "not tried: %s: a time-out, sleep or timer ends early in it, which --no-early-timeouts rules out", s.short(name))
			continue
		}
		if s.options.Explore.SetsEarlyAside() && engine.NeedsEarly(tr) {
			note(out, "not tried: %s: timers fire early in it, and it may need that; --early-timeouts tries it", s.short(name))
			continue
		}
		if s.concerns(tr, u.recipe) {
			// This run's oracles judge, and no command from a file runs.
			now, h := s.options.Outputs, &tr.Header
			rejudged := now.Oracle != h.Oracle || string(now.ExpectOutput) != string(h.ExpectOutput)
			h.ExpectOutput, h.Oracle = now.ExpectOutput, now.Oracle
			all = append(all, recorded{name, tr, rejudged})
		}
	}
	slices.SortStableFunc(all, func(a, b recorded) int {
		return finding.Severity(a.tr.Ending.Kind) - finding.Severity(b.tr.Ending.Kind)
	})
	for _, r := range all {
		met, changed, err := launch.Follow(ctx, t, r.tr)
		switch {
		case errors.Is(err, trace.ErrPoints):
			note(out, "not tried: %s: %v", s.short(r.name), err)
			continue
		case err != nil:
			return g, err
		}
		out.Executions++
		key, _ := finding.Of(met.Ending, t.Modules()).Key(met.Stacks, names.Locate)
		switch kind := met.Ending.Kind; {
		case kind == trace.Unfinished:
			note(out, "not decided: %s: the execution did not end (%s)", s.short(r.name), met.Ending.Message)
		case !kind.Failed(), kind == trace.Leak && !s.leaksFail():
			g.fixed = append(g.fixed, r.name)
		case slices.Contains(s.options.Explore.Ignore, key):
			g.passed[key]++
		case s.options.Explore.All:
			if slices.Contains(g.keys(), key) {
				continue
			}
			if changed {
				s.noteChanged(r.name, r.rejudged, out)
			}
			g.known = append(g.known, knownFinding{key: key, found: result.Distinct{
				Finding: s.recalled(ctx, t, met, names), Executions: 1, Known: true, Changed: changed, Trace: s.short(r.name), Shown: met,
			}})
			if !g.finding() {
				g.name, g.met, g.changed, g.rejudged = r.name, met, changed, r.rejudged
			}
			continue
		case !g.finding() || g.leak() && kind != trace.Leak:
			g.name, g.met, g.changed, g.rejudged = r.name, met, changed, r.rejudged
		}
		if g.finding() && !g.leak() {
			break
		}
	}
	return g, nil
}

// takeKept makes the failure of a kept schedule, if any, the finding.
func (s *suite) takeKept(ctx context.Context, t target.Target, g again, names *report.Running, out *result.Test) {
	if !g.finding() {
		return
	}
	if g.changed {
		s.noteChanged(g.name, g.rejudged, out)
	}
	out.Outcome, out.Trace, out.Shown = result.Found, s.short(g.name), g.met
	out.Finding = s.recalled(ctx, t, g.met, names)
	out.Known, out.Changed = true, g.changed
}

// recalled is the finding of a kept schedule that failed again.
func (s *suite) recalled(ctx context.Context, t target.Target, met *trace.Trace, names *report.Running) *result.Finding {
	f := result.OfTrace(met, t)
	if !s.options.NoExplain {
		f.Why = result.WhyOf(engine.Recall(ctx, t, met, names))
	}
	return f
}

func (s *suite) noteChanged(name string, rejudged bool, out *result.Test) {
	why := "of another build"
	if rejudged {
		why += " or judged by another oracle"
	}
	note(out, "%s was recorded %s: its schedule was followed as far as it goes", s.short(name), why)
}

// pass adds the executions that showed ignored findings, of kept schedules and of the search, to
// the test's and the run's.
func (s *suite) pass(out *result.Test, kept map[string]int) {
	if s.passed == nil {
		s.passed = map[string]int{}
	}
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		i := slices.IndexFunc(out.Ignored, func(x engine.Ignored) bool { return x.Key == key })
		if i < 0 {
			i = len(out.Ignored)
			out.Ignored = append(out.Ignored, engine.Ignored{Key: key})
		}
		out.Ignored[i].Executions += kept[key]
	}
	out.Ignored = slices.DeleteFunc(out.Ignored, func(x engine.Ignored) bool { return x.Executions == 0 })
	for _, x := range out.Ignored {
		s.passed[x.Key] += x.Executions
	}
}

// notePassed notes the findings of --ignore that no test showed.
func (s *suite) notePassed() {
	for _, key := range slices.Compact(slices.Sorted(slices.Values(s.options.Explore.Ignore))) {
		if s.passed[key] == 0 {
			s.launcher.Note(fmt.Sprintf("--ignore=%s has no effect: no execution showed it", key))
		}
	}
}

// concerns reports whether a kept trace belongs to the current test and its kind of failure counts
// in this run. The build may differ.
func (s *suite) concerns(tr *trace.Trace, now *trace.Recipe) bool {
	r, err := launch.RecipeOf(tr.Header.Run(), s.options.Dir)
	if err != nil || r.Kind != trace.RecipeTest || tr.Ending.Kind == trace.Race && now.RacesAllowed || tr.Ending.Kind == trace.Leak && !s.leaksFail() ||
		tr.Ending.Kind == trace.WrongOutput && !s.options.Outputs.Set() {
		return false
	}
	return r.Run == now.Run && launch.Parallel(r) == launch.Parallel(now) && slices.Equal(launch.BinaryArgs(r), launch.BinaryArgs(now))
}

// settle reports which kept findings no longer fail, after a search without a result.
func (s *suite) settle(fixed []string, out *result.Test) error {
	for _, name := range fixed {
		out.Fixed = append(out.Fixed, s.short(name))
		if s.options.Prune {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}
