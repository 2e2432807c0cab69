package static

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
)

// methods are what is held to the same promises.
var methods = map[string]func(*depend.Graph) []int32{
	"SimTrace":        SimTrace,
	"BackwardForward": BackwardForward,
}

// TestSameExecution: a result is a permutation that keeps program order and every
// dependence, has no more switches, and is the same execution when it is executed.
func TestSameExecution(t *testing.T) {
	before, after := 0, map[string]int{}
	for seed := range uint64(2000) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 1 + int(seed%6), Length: 3 + int(seed%29), Stay: int(seed % 8 * 12), Big: seed%13 == 0})
		g := depend.Build(run.Trace)
		n := Switches(g, Recorded(g))
		before += n
		for name, method := range methods {
			order := method(g)
			if err := ordertest.Check(g, g.Thread, order); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			m := Switches(g, order)
			if m > n {
				t.Fatalf("seed %d, %s: %d switches became %d", seed, name, n, m)
			}
			after[name] += m
			if _, err := run.Replay(order); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
		}
	}
	t.Logf("%d switches became %v", before, after)
	for name, m := range after {
		if m*2 > before {
			t.Errorf("%s: %d switches became %d: it hardly simplifies", name, before, m)
		}
	}
}
