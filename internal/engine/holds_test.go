package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
)

// executionsUntil returns, for each seed, the number of executions until a search found the bug, in ascending order;
// limit + 1 where it did not within limit.
func executionsUntil(t *testing.T, program simprog.Program, seeds uint64, limit int, names ...string) (all []int) {
	t.Helper()
	search, err := strategy.ParseSearch(names, strategy.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range seeds {
		r := find(t, simprog.New(program), Options{Seed: seed, Runs: limit, NoSimplify: true, Search: search})
		n := limit + 1
		if r.Outcome == Bug {
			n = r.Executions
			if !r.Finding.Confirmed {
				t.Errorf("%s, %v, seed %d: the finding was not confirmed", program.Name, names, seed)
			}
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// TestFeedbackDoesNotDependOnThreads: reads-from feedback finds orders among many threads in as many
// executions as among few, where a search without direction does not find them.
func TestFeedbackDoesNotDependOnThreads(t *testing.T) {
	for _, family := range []func(int) simprog.Program{simprog.Reorder, simprog.Stages} {
		for _, n := range []int{3, 10, 100} {
			program := family(n)
			t.Run(fmt.Sprint(program.Name, n), func(t *testing.T) {
				got := executionsUntil(t, program, 10, 200, "feedback")
				t.Logf("%d threads: %v", n, got)
				if median, worst := got[5], got[9]; median > 20 || worst > 100 {
					t.Errorf("found in executions %v, want 20 at most in the median and 100 in the worst case", got)
				}
				if n < 100 {
					return
				}
				for _, other := range []string{"random", "pct", "pos"} {
					rest := executionsUntil(t, program, 5, 150, other)
					t.Logf("%s: %v", other, rest)
					if rest[2] < 3*got[5] {
						t.Errorf("%s finds it in executions %v, feedback in %v: not three times as many", other, rest, got)
					}
				}
			})
		}
	}
}

// TestPredictedRace: a race that a lock hides in all but one in a thousand executions is predicted from
// one of these, and then shown.
func TestPredictedRace(t *testing.T) {
	t.Parallel()
	program := simprog.Shielded(5)
	races := func(s func(strategy.Setting) strategy.Strategy, seed uint64) int {
		r, err := Find(t.Context(), simprog.New(program), Options{Seed: seed, Runs: 40, Search: s, Races: RacesFail, NoSimplify: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Races)
	}
	hidden := 0
	for seed := range uint64(10) {
		if races(func(s strategy.Setting) strategy.Strategy { return strategy.NewRaceDirected(s) }, seed) == 0 {
			t.Errorf("seed %d: the race is not found", seed)
		}
		if races(func(s strategy.Setting) strategy.Strategy { return strategy.NewPortfolio(s, strategy.Random{}) }, seed) == 0 {
			hidden++
		}
	}
	if hidden < 5 {
		t.Errorf("chance finds the race for all but %d of 10 seeds: it is not hidden", hidden)
	}
}
