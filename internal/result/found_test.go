package result

import "testing"

func TestFoundIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		execution int
		planned   string
		strategy  string
		want      string
	}{
		{1, "first execution", "fair seed=3", "the first, fair execution"},
		{1234, "pct", "pct depth=3 seed=5", "execution 1,234 by pct depth=3"},
		{1234, "", "pct depth=3 seed=5", "execution 1,234 by pct depth=3"},
		{920, "feedback", "pos holds=2 seed=5", "execution 920 by feedback (pos holds=2)"},
	} {
		p := Printer{Stats: true}
		if got := p.foundIn(test.execution, test.planned, test.strategy); got != test.want {
			t.Errorf("%d, %s: %q, want %q", test.execution, test.strategy, got, test.want)
		}
	}
	// What a reader of a finding need not know is left out.
	if got := new(Printer).foundIn(920, "feedback", "pos holds=2 seed=5"); got != "execution 920" {
		t.Errorf("without tables: %q", got)
	}
}
