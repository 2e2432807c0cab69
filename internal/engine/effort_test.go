package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
)

// TestExplain: every execution counts for one strategy, and the failure for the one that the finding
// names.
func TestExplain(t *testing.T) {
	r := find(t, simprog.New(simprog.Reorder(30)), Options{Seed: 1, Explain: true, NoSimplify: true, Search: finishing})
	sum, fresh, failures := 0, 0, 0
	seconds := 0.0
	for _, e := range r.Search {
		sum, fresh, failures, seconds = sum+e.Executions, fresh+e.New, failures+e.Failures, seconds+e.Seconds
		if e.Why == "" || e.Failures > 0 && e.Strategy != "feedback" && e.Strategy != "race-directed" {
			t.Errorf("%+v", e)
		}
	}
	if r.Outcome != Bug || sum != r.Executions || fresh != r.Behaviours || failures != 1 || seconds <= 0 || seconds > r.Seconds {
		t.Errorf("%d executions, %d new, %d failures, %f s: %+v\n%+v", sum, fresh, failures, seconds, r, r.Search)
	}
	if r := find(t, simprog.New(simprog.LockedUpdate(2)), Options{Runs: 20}); r.Search != nil {
		t.Errorf("not asked for, and got %+v", r.Search)
	}
	alone := func(s strategy.Setting) strategy.Strategy { return strategy.NewCHESS(s, -1) }
	if r := find(t, simprog.New(simprog.LockedUpdate(2)), Options{Runs: 20, Explain: true, Search: alone}); len(r.Search) != 2 || r.Search[1].Executions != r.Executions-1 {
		t.Errorf("%+v", r.Search)
	}
}
