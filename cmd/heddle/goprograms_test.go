package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/goprograms"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/trace"
)

// builtGo are test binaries of testdata/goprograms, by directory ("fail/abba").
type builtGo struct {
	dir      string
	programs map[string]goprograms.Program
}

// buildGo builds packages of testdata/goprograms with heddle in the runtime of a release,
// one link after the other but one compilation. An empty release is the one that runs the
// tests.
func buildGo(t testing.TB, release string, opts patch.Options, want func(goprograms.Program) bool) builtGo {
	t.Helper()
	source := filepath.Join(repository(t), "testdata", "goprograms")
	all, err := goprograms.List(source)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	tool, o := goOverlay(t, release, opts)
	b := builtGo{t.TempDir(), map[string]goprograms.Program{}}
	for _, group := range []string{"fail", "pass", "bench"} {
		var packages []string
		for _, p := range all {
			rel, err := filepath.Rel(source, p.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(rel, group+"/") && want(p) {
				packages = append(packages, "./"+rel)
				b.programs[rel] = p
			}
		}
		if packages == nil {
			continue
		}
		out := filepath.Join(b.dir, group) + "/"
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"test", "-c", "-vet=off", "-o", out}, append(o.Flags, packages...)...)
		cmd := exec.CommandContext(ctx, tool.Path, args...)
		cmd.Dir = source
		cmd.Env = append(append(os.Environ(), o.Env...), "GOROOT="+tool.Root, "GOTOOLCHAIN=local")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	return b
}

// goOverlay returns the go command of a release, and how to build with heddle in its runtime.
func goOverlay(t testing.TB, release string, opts patch.Options) (*gotool.Tool, gotool.Overlay) {
	t.Helper()
	if release != "" {
		t.Setenv("GOTOOLCHAIN", need.GoRelease(t, release))
	}
	ctx := t.Context()
	tool, err := gotool.Find(ctx, "", filepath.Join(repository(t), "testdata", "goprograms"))
	if err != nil {
		t.Fatal(err)
	}
	if release != "" && release != "local" && tool.Version != release {
		t.Fatalf("the go command is %s, not %s", tool.Version, release)
	}
	cache, err := runtimecache.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if err := tool.Settle(ctx, cache); err != nil {
		t.Fatal(err)
	}
	o, err := goSupport.Overlay(ctx, tool, cache, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tool, o
}

// start starts the one test of a program.
func (b builtGo) start(t testing.TB, name string) *goprog.Target {
	t.Helper()
	path := filepath.Join(b.dir, name+".test")
	g, err := goprog.Start(t.Context(), goprog.Config{
		Path: path, Dir: t.TempDir(), Test: true, Version: "test",
		Args: []string{path, "-test.run=^" + b.programs[name].Test + "$"},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func (b builtGo) names(group string) (names []string) {
	for name := range b.programs {
		if strings.HasPrefix(name, group+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// goOptions are those of heddle test --leaks=fail.
func goOptions(t testing.TB, table *symbol.Table) engine.Options {
	t.Helper()
	opts, err := (&testCommand{searchFlags: searchFlags{seedFlag: seedFlag{Seed: 1}}, Race: true}).options()
	if err != nil {
		t.Fatal(err)
	}
	opts.LeakFails = func(engine.Leak) bool { return true }
	opts.Where = func(s trace.Site) string {
		frames := table.Call(s)
		return fmt.Sprintf("%s %s:%d", frames[0].Func, frames[0].File, frames[0].Line)
	}
	return opts
}

// functions are the names of all functions that a finding speaks of: where it happened, and
// where goroutines are stuck.
func functions(table *symbol.Table, tr *trace.Trace) string {
	var all []string
	sites := append([]trace.Site{tr.Ending.Site}, tr.Ending.Stack...)
	for _, w := range tr.Ending.Waiters {
		sites = append(append(sites, w.Site, tr.Threads[w.Thread].Entry), tr.Stacks[w.Stack]...)
	}
	for _, s := range sites {
		for _, f := range table.Call(s) {
			all = append(all, f.Func)
		}
	}
	return strings.Join(all, "\n")
}

// testGoFailing finds, confirms, simplifies and replays the bug of each failing program.
func testGoFailing(t *testing.T, b builtGo, replays int) {
	for _, name := range b.names("fail") {
		p := b.programs[name]
		t.Run(p.Name, func(t *testing.T) {
			g := b.start(t, name)
			table := symbol.New(g.Modules(), symbol.Options{})
			opts := goOptions(t, table)
			opts.Time = time.Minute
			if slices.Equal(p.Kinds, []trace.Kind{trace.Leak}) {
				opts.Runs = 1000 // a leak does not end the search
			}
			if slices.Contains(p.Kinds, trace.Race) {
				opts.Time = 15 * time.Second // a race does not end it either
			}
			if p.Switches < 0 { // the fewest are not known, so the result need not be shown to have them
				opts.Simplify.Time, opts.Simplify.ExtraTime = 3*time.Second, time.Second
			}
			began := time.Now()
			r, err := engine.Find(t.Context(), g, opts, nil)
			if err != nil || r.Finding == nil {
				t.Fatalf("not found in %d executions, %v: %v, notes %q", r.Executions, time.Since(began), err, r.Notes)
			}
			f := r.Finding
			ok := false
			for _, k := range p.Kinds {
				ok = ok || k.String() == f.Kind
			}
			if !ok {
				t.Fatalf("found %s (%s at %s), expected %v", f.Kind, f.Message, f.Where, p.Kinds)
			}
			if said := f.Message + "\n" + functions(table, f.Recorded); !strings.Contains(said, p.Finding) {
				t.Errorf("the finding says nothing of %q: %s", p.Finding, said)
			}
			if r.Simplified == nil {
				t.Fatalf("not simplified: %q", r.Notes)
			}
			if p.Switches >= 0 && f.Kind != trace.Race.String() && r.Simplified.Switches != p.Switches {
				t.Errorf("simplified to %d switches, the fewest are %d", r.Simplified.Switches, p.Switches)
			}
			times := replays
			if f.Kind == trace.Hang.String() {
				times = min(times, 3) // each runs into the budget
			}
			for i := range times {
				for _, tr := range []*trace.Trace{f.Recorded, r.Simplified.Recorded} {
					if _, err := engine.Replay(context.Background(), g, tr); err != nil {
						t.Fatalf("replay %d: %v", i, err)
					}
				}
			}
			t.Logf("%s %q after %d executions; %d events, %d -> %d switches; %.1f s in all, %d not reproduced",
				f.Kind, f.Message, f.Execution, f.Events, f.Switches, r.Simplified.Switches, time.Since(began).Seconds(), r.NotReproduced)
		})
	}
}

// testGoPassing explores each correct program.
func testGoPassing(t *testing.T, b builtGo, executions int) {
	for _, name := range b.names("pass") {
		t.Run(b.programs[name].Name, func(t *testing.T) {
			g := b.start(t, name)
			opts := goOptions(t, symbol.New(g.Modules(), symbol.Options{}))
			opts.Runs, opts.Stale, opts.NoSimplify = executions, 0, true
			r, err := engine.Find(t.Context(), g, opts, nil)
			switch {
			case err != nil:
				t.Fatal(err)
			case r.Finding != nil:
				t.Errorf("%s: %s at %s, after %d executions (%s)", r.Finding.Kind, r.Finding.Message, r.Finding.Where, r.Finding.Execution, r.Finding.Strategy)
			case r.NotReproduced > 0:
				t.Errorf("%d failures that did not come again: %q", r.NotReproduced, r.Notes)
			}
			t.Logf("%d executions, %d behaviours, %.0f/s", r.Executions, r.Behaviours, r.PerSecond)
		})
	}
}

// TestGoPrograms: each failing program of testdata/goprograms is found as it says, by what
// heddle test does, simplified, and replayed in fresh processes; its twin is clean.
func TestGoPrograms(t *testing.T) {
	b := buildGo(t, "", patch.Options{}, func(p goprograms.Program) bool { return !p.Main })
	t.Run("fail", func(t *testing.T) { testGoFailing(t, b, need.Amount(3, 100)) })
	t.Run("pass", func(t *testing.T) { testGoPassing(t, b, need.Amount(500, 20000)) })
}

// TestGoProgramsReleases does the same with the other releases of Go, for programs that between
// them use every part of the runtime that heddle edits. With HEDDLE_WHOLE it is for all.
func TestGoProgramsReleases(t *testing.T) {
	some := []string{"atomic_value_pair", "cond_lost_wakeup", "double_close", "iter_pull_leak", "map_read_write", "rwmutex_upgrade",
		"select_priority", "timer_race"}
	for _, release := range need.OtherGoReleases() { // for the one that runs the tests: TestGoPrograms
		t.Run(release, func(t *testing.T) {
			all := need.Amount(0, 1) == 1
			b := buildGo(t, release, patch.Options{}, func(p goprograms.Program) bool {
				return !p.Main && (all || slices.Contains(some, p.Name))
			})
			if n := len(b.programs); n < 2*len(some) {
				t.Fatalf("%d programs, expected %d", n, 2*len(some))
			}
			t.Run("fail", func(t *testing.T) { testGoFailing(t, b, 3) })
			t.Run("pass", func(t *testing.T) { testGoPassing(t, b, 500) })
		})
	}
}
