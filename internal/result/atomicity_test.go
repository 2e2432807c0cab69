package result

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
)

// Interleavings of the same lines are one block, the one with a control record; those of other verdicts or places are not.
func TestMerged(t *testing.T) {
	t.Parallel()
	at := func(verdict, where, control string, rank int) Interleaving {
		return Interleaving{Verdict: verdict, Pattern: "read-write-write", Object: "n", P: Statement{"read", where}, Control: control, Rank: rank}
	}
	list := merged([]Interleaving{
		at(VerdictBug, "a.c:1", "", 1), at(VerdictBug, "a.c:2", "", 2), at(VerdictUnclear, "a.c:1", "", 3),
		at(VerdictBug, "a.c:1", "x.control", 4), at(VerdictBug, "a.c:1", "", 5),
	}, VerdictBug)
	if len(list) != 2 || list[0].Rank != 4 || list[0].more != 2 || list[1].Rank != 2 || list[1].more != 0 {
		t.Errorf("%+v", list)
	}
}

// An interleaving is a bug only if executions show it: all with it fail, unless the explanation names it, and all without it pass.
func TestBlame(t *testing.T) {
	t.Parallel()
	ended := func(failed, passed int) strategy.Ended { return strategy.Ended{Failed: failed, Passed: passed} }
	for name, c := range map[string]struct {
		target strategy.Target
		want   string
	}{
		"shown":                  {strategy.Target{With: ended(20, 0), Without: ended(0, 15)}, VerdictBug},
		"one with it passes":     {strategy.Target{With: ended(19, 1), Without: ended(0, 15)}, VerdictUnclear},
		"but is explained":       {strategy.Target{With: ended(19, 1), Without: ended(0, 15), Explained: true}, VerdictBug},
		"one without it fails":   {strategy.Target{With: ended(20, 0), Without: ended(1, 14)}, VerdictUnclear},
		"explained all the same": {strategy.Target{With: ended(19, 1), Without: ended(1, 14), Explained: true}, VerdictUnclear},
		"none without it":        {strategy.Target{With: ended(20, 0)}, VerdictUnclear},
		"nothing was tried":      {strategy.Target{}, VerdictUnclear},
		"too few":                {strategy.Target{With: ended(3, 0), Without: ended(0, 1), Few: true}, VerdictUnclear},
		"explained by others":    {strategy.Target{With: ended(20, 0), Without: ended(0, 15), Elsewhere: true}, VerdictUnclear},
		"no time":                {strategy.Target{With: ended(20, 0), Without: ended(0, 15), Unchecked: true}, VerdictUnclear},
		"fails without it":       {strategy.Target{Needless: 1}, VerdictUnclear},
	} {
		c.target.Failures, c.target.Forced, c.target.Message = 1, 1, "it failed"
		if got, why := verdict(&c.target, 0, nil); got != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got, c.want, why)
		}
	}
}
