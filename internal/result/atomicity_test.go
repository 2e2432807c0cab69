package result

import "testing"

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
