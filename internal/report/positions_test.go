package report

import "testing"

func TestSpinningPositions(t *testing.T) {
	for _, c := range []struct {
		op, object, want string
	}{
		{"atomic load", "x", "T2: has read x at f.c:12 for 900,000 steps"},
		{"read", "", "T2: has read the same memory at f.c:12 for 900,000 steps"},
		{"yield", "", "T2: has yielded at f.c:12 for 900,000 steps"},
		{"trylock", "m", "T2: has repeated trylock of m at f.c:12 for 900,000 steps"},
	} {
		p := Position{Thread: 2, Op: c.op, Object: c.object, Where: "f.c:12", Text: "can continue with " + c.op}
		if p.Spins(900_000); p.Line() != c.want {
			t.Errorf("%s of %q: %s", c.op, c.object, p.Line())
		}
	}
	p := Position{Thread: 1, Text: "runs"}
	if got := p.Line(); got != "T1: runs at an unknown place" {
		t.Error(got)
	}
}
