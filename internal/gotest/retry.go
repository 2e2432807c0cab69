package gotest

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/kept"
	"github.com/heddle-dev/heddle/internal/launch"
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
	changed bool // it was recorded from another build
	fixed   []string
}

func (g *again) finding() bool { return g.name != "" }

func (g *again) leak() bool { return g.finding() && g.met.Ending.Kind == trace.Leak }

// retry runs the kept schedules of a test, the worst failures first, until one fails with more than
// a leak.
func (s *suite) retry(ctx context.Context, t target.Target, k kept.Findings, u unit, out *result.Test) (g again, err error) {
	type recorded struct {
		name string
		tr   *trace.Trace
	}
	var all []recorded
	for _, name := range k.Files() {
		tr, err := tracefile.Read(name)
		if err != nil {
			// A newer version of heddle may have written it.
			note(out, "not tried: %v", err)
			continue
		}
		if s.concerns(tr, u.recipe) {
			all = append(all, recorded{name, tr})
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
		switch kind := met.Ending.Kind; {
		case !kind.Failed(), kind == trace.Leak && !s.leaksFail():
			g.fixed = append(g.fixed, r.name)
		case !g.finding() || g.leak() && kind != trace.Leak:
			g.name, g.met, g.changed = r.name, met, changed
		}
		if g.finding() && !g.leak() {
			break
		}
	}
	return g, nil
}

// takeKept makes the failure of a kept schedule, if any, the finding.
func (s *suite) takeKept(t target.Target, g again, out *result.Test) {
	if !g.finding() {
		return
	}
	if g.changed {
		note(out, "%s was recorded of another build: its schedule was followed as far as it goes", s.short(g.name))
	}
	out.Outcome, out.Trace, out.Shown = result.Found, s.short(g.name), g.met
	out.Finding = result.OfTrace(g.met, t)
	out.Known, out.Changed = true, g.changed
}

// concerns reports whether a kept trace is of the test being run, and its failure of a kind that
// counts now. A different build does not matter.
func (s *suite) concerns(tr *trace.Trace, now *trace.Recipe) bool {
	r, err := launch.RecipeOf(&tr.Header, s.options.Dir)
	if err != nil || r.Kind != trace.RecipeTest || tr.Ending.Kind == trace.Race && now.RacesAllowed || tr.Ending.Kind == trace.Leak && !s.leaksFail() {
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
