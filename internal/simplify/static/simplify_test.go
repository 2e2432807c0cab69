package static

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// TestFewest: no order has fewer switches than that, and merging reaches it where it is exact.
func TestFewest(t *testing.T) {
	for seed := range uint64(40) {
		tr := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%3), Length: 4 + int(seed%9)}).Trace
		n, err := Fewest(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		if after := trace.CostOf(Merge(tr)).Switches; after != n {
			t.Errorf("seed %d: %d switches after merging; Fewest is %d", seed, after, n)
		}
	}
}

// TestMerge: the events of Merge are the trace's, cost no more, and are the same execution.
func TestMerge(t *testing.T) {
	better, preemptions := 0, 0
	for seed := range uint64(400) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 1 + int(seed%5), Length: 3 + int(seed%13), Stay: int(seed % 8 * 12)})
		tr := run.Trace
		before := trace.CostOf(tr.Events)
		g := depend.Build(tr)
		res := simplify(nil, g, DefaultEffort)
		if _, err := run.Replay(res.Order); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		events := Merge(tr)
		after := trace.CostOf(events)
		if after.Switches != res.After || before.Switches != res.Before {
			t.Fatalf("seed %d: Merge has %+v of %+v, Simplify %d of %d", seed, after, before, res.After, res.Before)
		}
		if after.Events != before.Events || after.Threads != before.Threads || after.Switches > before.Switches {
			t.Fatalf("seed %d: %+v became %+v", seed, before, after)
		}
		if after.Switches < before.Switches {
			better++
			preemptions += before.Preemptions - after.Preemptions
		}
		whole, _, err := Reordered(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Validate(whole); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := depend.Build(whole); Switches(again, Recorded(again)) != after.Switches {
			t.Fatalf("seed %d: the whole trace has other switches", seed)
		}
		if c := trace.CostOf(whole.Events); c != after {
			t.Fatalf("seed %d: Reordered costs %+v, Merge %+v", seed, c, after)
		}
		if !res.Best.Exact || res.Best.Lower > res.After {
			t.Fatalf("seed %d: %+v", seed, res)
		}
		if gap := GapOf(res.After, res.Best).String(); gap != "optimal" {
			t.Fatalf("seed %d: %s", seed, gap)
		}
	}
	if better < 200 || preemptions < better {
		t.Errorf("%d traces became better, by %d preemptions together", better, preemptions)
	}
}

func TestGap(t *testing.T) {
	for _, c := range []struct {
		gap  Gap
		want string
	}{
		{GapOf(4, Best{Lower: 4}), "optimal"},
		{GapOf(6, Best{Lower: 4, Exact: true}), "2 above the fewest possible, 4"},
		{GapOf(6, Best{Lower: 4}), "not known: at most 2 above the fewest possible, which is 4 or more"},
	} {
		if got := c.gap.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestNothing: traces of nothing and of one thread.
func TestNothing(t *testing.T) {
	for _, events := range [][]trace.Event{nil, {{Op: trace.OpYield}}, {{Op: trace.OpYield}, {Op: trace.OpYield}}} {
		g := depend.Build(&trace.Trace{Events: events})
		for name, m := range methods {
			if order := m(g); ordertest.Check(g, g.Thread, order) != nil {
				t.Errorf("%s: %v", name, order)
			}
		}
		if b := optimum(nil, g, nil, DefaultLimits); !b.Exact || b.Lower != 0 {
			t.Errorf("%+v", b)
		}
	}
}

// TestWithoutOptimum: where the optimum is not looked for, the other methods still are,
// and what they find is executed.
func TestWithoutOptimum(t *testing.T) {
	linear, all := 0, 0
	for seed := range uint64(300) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 3 + int(seed%4), Length: 20, Stay: int(seed % 5 * 12)})
		g := depend.Build(run.Trace)
		a, b := simplify(nil, g, Effort{}), simplify(nil, g, Effort{Starts: 16, Work: 1 << 20})
		linear += a.After
		all += b.After
		if b.After > a.After || b.Best.Exact {
			t.Fatalf("seed %d: %d switches, %d with more effort", seed, a.After, b.After)
		}
		if _, err := run.Replay(b.Order); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if all >= linear {
		t.Errorf("greedy orders never helped: %d switches, %d without", all, linear)
	}
}

// TestReorderedAfter: what comes after a number of scheduling decisions is reordered, the same execution, and those
// decisions stay as they are.
func TestReorderedAfter(t *testing.T) {
	better := 0
	for seed := range uint64(300) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%4), Length: 10, Stay: int(seed % 8 * 12)})
		tr := run.Trace
		for kept := range tr.Decisions() {
			if kept%5 != int(seed%5) {
				continue
			}
			out, res, err := ReorderedAfter(t.Context(), tr, kept)
			if err != nil {
				t.Fatal(err)
			}
			if err := trace.Validate(out); err != nil {
				t.Fatalf("seed %d, %d kept: %v", seed, kept, err)
			}
			if res.After == res.Before {
				continue
			}
			better++
			if _, err := run.Replay(res.Order); err != nil {
				t.Fatalf("seed %d, %d kept: %v", seed, kept, err)
			}
			for i, left := 0, kept; left > 0; i++ {
				a, b := &tr.Events[i], &out.Events[i]
				if a.Thread != b.Thread || a.Op != b.Op || a.Site != b.Site || a.Object != b.Object {
					t.Fatalf("seed %d, %d kept: event %d is %v of T%d, and was %v of T%d", seed, kept, i, b.Op, b.Thread, a.Op, a.Thread)
				}
				if a.Flags&trace.FlagNoDecision == 0 {
					left--
				}
			}
		}
	}
	if better < 300 {
		t.Errorf("%d traces became better", better)
	}
}
