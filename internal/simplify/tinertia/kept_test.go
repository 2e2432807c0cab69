package tinertia

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestKept: with decisions kept, every execution is asked for with them, the result begins with them, and it has no
// more context switches; the rest of the properties hold, too.
func TestKept(t *testing.T) {
	simpler, executed, whole := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		d := func(k int) int { n++; return rapid.IntRange(0, k-1).Draw(t, fmt.Sprint("draw ", n)) }
		p := randomProgram(d, 2+d(8))
		if rapid.Bool().Draw(t, "family") {
			p = familyProgram(d)
		}
		in := failing(p, rapid.Uint64Range(0, 1000).Draw(t, "seed"), 30)
		if in == nil {
			t.Skip("does not fail")
		}
		suffix := rapid.IntRange(1, 12).Draw(t, "suffix")
		kept := Kept(in, suffix)
		if kept == 0 {
			t.Skip("it has no more context switches")
		}
		all := choices(in.Events)
		if got := trace.CostOf(all[kept:]).Switches; got != suffix {
			t.Fatalf("%d context switches after the decisions kept, not %d", got, suffix)
		}
		if all[kept].Thread == all[kept-1].Thread {
			t.Fatalf("decision %d is within a TEI", kept)
		}
		same := sameBug(in.Ending)
		exec := watch(p, func(s string) { t.Errorf("%s", s) })
		begins := func(steps []schedule.Step, threads []trace.Thread) bool {
			return len(steps) >= kept && slices.Equal(scheduleText(steps[:kept], threads), scheduleText(schedule.Steps(all[:kept]), in.Threads))
		}
		r, err := Simplify(context.Background(), Input{in, same}, func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
			if !begins(plan.Script, plan.Threads) {
				t.Errorf("a script does not begin with the %d decisions", kept)
			}
			return exec.run(ctx, plan)
		}, Options{History: true, Kept: kept})
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, p, in, same, r)
		if !begins(schedule.ScriptOf(r.Trace), r.Trace.Threads) {
			t.Errorf("the result does not begin with the %d decisions", kept)
		}
		if r.Drift != -1 || r.Complete && r.After.Switches > 1 || !r.Complete && r.Unproven != gapKept(kept) || r.Kept != kept {
			t.Errorf("drift %d, complete %v, %q", r.Drift, r.Complete, r.Unproven)
		}
		if r.After.Switches < r.Before.Switches {
			simpler++
		}
		again, err := Simplify(context.Background(), Input{in, same}, p.run, Options{})
		if err != nil {
			t.Fatal(err)
		}
		executed, whole = executed+r.Table2.Executions, whole+again.Table2.Executions
	})
	t.Logf("%d traces got simpler, in %d executions; simplified whole, in %d", simpler, executed, whole)
	if simpler == 0 || executed >= whole {
		t.Error("simplifying the end saves nothing, or does nothing")
	}
}

// TestKeptStrays: an execution that leaves the decisions to be kept never counts, and if that of the input does, nothing can be
// simplified.
func TestKeptStrays(t *testing.T) {
	strayed := 0
	for n := range uint64(40) {
		p := anyProgram(n)
		in := failing(p, n, 30)
		if in == nil {
			continue
		}
		kept := Kept(in, 3)
		if kept == 0 {
			continue
		}
		first := true
		_, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
			if !first {
				t.Error("it goes on")
			}
			first = false
			plan.Script = nil // as if the program took another path
			out, err := p.run(ctx, plan)
			out.Ending = in.Ending
			if reflect.DeepEqual(schedule.Steps(choices(out.Trace.Events)[:min(kept, out.Trace.Decisions())]), schedule.Steps(choices(in.Events)[:kept])) {
				first = true
			}
			return out, err
		}, Options{Kept: kept})
		if errors.Is(err, ErrNotReproduced) {
			strayed++
		}
	}
	if strayed < 5 {
		t.Errorf("%d inputs were rejected", strayed)
	}
}

// TestKeptTooMany: at least one decision must be left.
func TestKeptTooMany(t *testing.T) {
	for n := range uint64(40) {
		p := anyProgram(n)
		if in := failing(p, n, 30); in != nil {
			for _, kept := range []int{-1, len(choices(in.Events))} {
				if _, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Kept: kept}); err == nil {
					t.Errorf("%d of %d decisions were kept", kept, len(choices(in.Events)))
				}
			}
			return
		}
	}
}
