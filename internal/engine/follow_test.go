package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// changedUpdate is simprog.LostUpdate after a change: the same bug at other instructions,
// with another access before it.
//
//go:noinline
func changedUpdate(lock bool) simprog.Program {
	return simprog.Program{Name: "changed-update", Main: func(t *simprog.Thread) {
		limit, counter, m := t.Var(2), t.Var(0), t.Mutex()
		var children []*simprog.Thread
		for range 2 {
			children = append(children, t.Go(func(t *simprog.Thread) {
				if lock {
					t.Lock(m)
				}
				t.Write(counter, t.Read(counter)+1)
				if lock {
					t.Unlock(m)
				}
			}))
		}
		for _, c := range children {
			t.Join(c)
		}
		t.Assert(t.Read(counter) == t.Read(limit), "counter == limit")
	}}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	report, err := Find(t.Context(), simprog.New(simprog.LostUpdate(2)), Options{Seed: 1}, nil)
	if err != nil || report.Simplified == nil {
		t.Fatalf("%+v, %v", report, err)
	}
	bug := report.Simplified.Recorded

	// The same program: the same execution.
	met, err := Follow(t.Context(), simprog.New(simprog.LostUpdate(2)), bug, nil)
	if err != nil || met.Ending.Kind != bug.Ending.Kind || trace.CostOf(met.Events) != trace.CostOf(bug.Events) {
		t.Errorf("%+v, %v; want %+v", met.Ending, err, bug.Ending)
	}
	// Changed: none of the recorded instructions exists any longer, but the bug does.
	met, err = Follow(t.Context(), simprog.New(changedUpdate(false)), bug, nil)
	if err != nil || met.Ending.Kind != trace.Assertion || met.Ending.Message != "counter == limit" {
		t.Errorf("%+v, %v", met.Ending, err)
	}
	if _, err := Replay(t.Context(), simprog.New(changedUpdate(false)), met); err != nil {
		t.Errorf("what was met does not replay: %v", err)
	}
	// The bug is fixed.
	met, err = Follow(t.Context(), simprog.New(changedUpdate(true)), bug, nil)
	if err != nil || met.Ending.Kind.Failed() {
		t.Errorf("%+v, %v", met.Ending, err)
	}
	// A trace with another version of scheduling points.
	other := *bug
	other.Header.PointsVersion += 7
	if _, err := Follow(t.Context(), simprog.New(simprog.LostUpdate(2)), &other, nil); err == nil {
		t.Error("a trace with other scheduling points is followed")
	}
}

// The exploration of a program that shows nothing new ends automatically, after the same number of
// executions at any speed, and not before every behaviour has been seen.
func TestStale(t *testing.T) {
	t.Parallel()
	const stale = 500
	first, err := Find(t.Context(), simprog.New(simprog.LockedUpdate(2)), Options{Seed: 1, Stale: stale}, nil)
	if err != nil || first.Outcome != Nothing || first.Executions < stale || first.Executions > 20*stale {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := Find(t.Context(), simprog.New(simprog.LockedUpdate(2)), Options{Seed: 1, Stale: stale}, nil)
	if err != nil || again.Executions != first.Executions {
		t.Errorf("%d executions, then %d, %v", first.Executions, again.Executions, err)
	}
	long, err := Find(t.Context(), simprog.New(simprog.LockedUpdate(2)), Options{Seed: 1, Runs: 5 * first.Executions}, nil)
	if err != nil || long.Behaviours != first.Behaviours {
		t.Errorf("%d behaviours were missed (%v)", long.Behaviours-first.Behaviours, err)
	}
}
