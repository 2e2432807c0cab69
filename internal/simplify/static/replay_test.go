package static_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/internal/simplify/bintrcred"
	"github.com/heddle-dev/heddle/internal/simplify/proof"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestReplays traces the C programs of Table I with every access a scheduling point,
// reorders the traces without running anything, and then runs the programs by the new
// order, strictly: it must be the same execution, event by event, down to the threads that
// were enabled and the values that were read.
func TestReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the runtime and four programs")
	}
	ctx := context.Background()
	rt, err := runtimecache.Build(ctx)
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"philo", "merge", "tsp", "webdow"} {
		t.Run(name, func(t *testing.T) {
			prog := filepath.Join(t.TempDir(), name)
			source := "../../../testdata/static/c/" + name + ".c"
			if out, err := exec.Command("gcc", "-O1", "-g", "-pthread", "-fsanitize=thread", "-DCITIES=6", "-o", prog, source).CombinedOutput(); err != nil {
				t.Skipf("gcc: %v\n%s", err, out)
			}
			p, err := cprog.Start(ctx, cprog.Config{Path: prog, Args: []string{name}, Runtime: rt.Library})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			run := func(plan schedule.Plan) schedule.Outcome {
				t.Helper()
				plan.Record, plan.Accesses = true, true
				out, err := p.Run(ctx, plan)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			seen := map[trace.Site]bool{}
			var points []trace.Site
			for _, ev := range run(schedule.Plan{Seed: 1, Policy: schedule.Random}).Trace.Events {
				if ev.Op.IsAccess() && !seen[ev.Site] {
					seen[ev.Site] = true
					points = append(points, ev.Site)
				}
			}
			tr := run(schedule.Plan{Seed: 7, Policy: schedule.Random, Stay: 0.5, Points: points}).Trace
			re, res, err := static.Reordered(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			if res.After*2 > res.Before {
				t.Errorf("%d switches became %d: it hardly simplifies", res.Before, res.After)
			}
			if err := trace.Validate(re); err != nil {
				t.Error(err)
			}
			out := run(schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(re), Threads: re.Threads, Points: points})
			if out.Diverged != nil {
				t.Fatalf("the reordered trace does not replay: %+v", out.Diverged)
			}
			if out.Switches != res.After || len(out.Trace.Events) != len(re.Events) {
				t.Fatalf("replayed with %d switches and %d events, not %d and %d", out.Switches, len(out.Trace.Events), res.After, len(re.Events))
			}
			values := 0
			for i := range re.Events {
				a, b := &re.Events[i], &out.Trace.Events[i]
				if a.Thread != b.Thread || a.Op != b.Op || a.Site != b.Site || !same(a.Object, b.Object) || a.Result != b.Result || !a.Enabled.Equal(b.Enabled) {
					t.Fatalf("event %d: %+v, replayed as %+v", i, *a, *b)
				}
				if a.Op.IsAccess() && a.Value != b.Value {
					values++
				}
			}
			// Threads that are created in another order have other numbers in pthread_t.
			if values*100 > len(re.Events) {
				t.Errorf("%d of %d events have other values", values, len(re.Events))
			}
			if merged := run(schedule.Plan{Mode: schedule.Strict, Script: schedule.Steps(static.Merge(tr)), Threads: tr.Threads, Points: points}); merged.Diverged != nil || merged.Switches != res.After {
				t.Errorf("Merge's events: %d switches, %+v", merged.Switches, merged.Diverged)
			}
			st := stmt.FromTrace(tr)
			red, err := bintrcred.Run(t.Context(), st)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := proof.Check(st, red.Derivation); err != nil {
				t.Error(err)
			}
			t.Logf("%d events, %d switches: %d (%s), BinTrcRed %d in %d steps, preemptions %d to %d", len(tr.Events), res.Before, res.After,
				static.GapOf(res.After, res.Best), red.After, red.Derivation.Steps(), trace.CostOf(tr.Events).Preemptions, out.Preemptions)
		})
	}
}

// same compares objects. Which block an allocation gets depends on the allocations before
// it, of all threads; the order of those is not a dependence.
func same(a, b trace.Object) bool {
	return a == b || a.Region() == trace.RegionHeap && b.Region() == trace.RegionHeap
}
