package result

import "testing"

func TestFoundIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		execution int
		strategy  string
		want      string
	}{
		{1, "fair seed=3", "the first, fair execution"},
		{1234, "pct depth=3 seed=5", "execution 1,234 by pct depth=3"},
	} {
		if got := foundIn(test.execution, test.strategy); got != test.want {
			t.Errorf("%d, %s: %q, want %q", test.execution, test.strategy, got, test.want)
		}
	}
}
