package reversible

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/smt"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

func describe(t *trace.Trace) string {
	var b strings.Builder
	for i, ev := range t.Events {
		fmt.Fprintf(&b, "%3d T%d %v %x aux %x value %d result %d\n", i, ev.Thread, ev.Op, ev.Object.Offset(), ev.Aux&0xffff, ev.Value, ev.Result)
	}
	return b.String()
}

// TestBrute compares the check with all feasible reorderings of random traces.
func TestBrute(t *testing.T) {
	t.Parallel()
	traces := 6000
	if testing.Short() {
		traces = 1000
	}
	answers := map[Answer]int{}
	searched := 0
	for seed := range uint64(traces) {
		r := rand.New(rand.NewPCG(seed, 1))
		threads := 2 + r.IntN(3)
		tr := record(r, generate(r, threads, 4-threads/2))
		got, err := Check(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		answers[got.Answer]++
		searched += got.Searched
		b := newBrute(tr, threads)
		want := b.reverses(nil)
		if (want != nil) != (got.Answer == Fails) || got.Answer == Undecided {
			t.Fatalf("seed %d: %+v, all reorderings: %v\n%s", seed, got, want, describe(tr))
		}
		if got.Answer == Fails {
			checkOrder(t, b, tr, threads, got, fmt.Sprint("seed ", seed))
		}
	}
	t.Logf("%v, %d pairs searched", answers, searched)
	if answers[Holds] < traces/20 || answers[Fails] < traces/20 {
		t.Errorf("%v: too few of one answer to mean anything", answers)
	}
}

// checkOrder checks that a reordering is feasible and reverses its pair.
func checkOrder(t *testing.T, b *brute, tr *trace.Trace, threads int, got *Result, what string) {
	t.Helper()
	if _, _, err := b.replay(got.Order); err != nil {
		t.Fatalf("%s: order %v of pair %v: %v\n%s", what, got.Order, got.Pair, err, describe(tr))
	}
	if !dependent(tr, threads, &tr.Events[got.Pair.First], &tr.Events[got.Pair.Second]) {
		t.Fatalf("%s: pair %v is not dependent\n%s", what, got.Pair, describe(tr))
	}
	if got.Order[len(got.Order)-1] != got.Pair.Second {
		t.Fatalf("%s: the order %v does not end with the pair's second event", what, got.Order)
	}
	for _, e := range got.Order {
		if e == got.Pair.First {
			t.Fatalf("%s: the order %v has the pair's first event %d", what, got.Order, e)
		}
	}
}

// TestSolver compares the search with the formula, decided by a real solver, on the pairs that vector
// clocks leave.
func TestSolver(t *testing.T) {
	t.Parallel()
	need.Tool(t, "z3")
	solver := smt.Find(time.Minute)
	pairs := 160
	if testing.Short() {
		pairs = 60
	}
	count := map[Verdict]int{}
	for seed := uint64(0); pairs > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		threads := 2 + r.IntN(3)
		tr := record(r, generate(r, threads, 5))
		m := compile(tr)
		budget := 1 << 30
		negative := false
		for _, c := range m.candidates(&Result{}) {
			want, _ := m.reverse(c.first, c.second, m.needs(c.second), &budget)
			// Most pairs are reversible: the others are what this test is for.
			if want == Possible && (negative || seed%8 > 0) {
				continue
			}
			negative = true
			got, order, err := m.solve(t.Context(), c, solver.Solve)
			if err != nil || got != want {
				t.Fatalf("seed %d, pair %v: the solver says %v (%v, %v), the search %v\n%s", seed, c, got, order, err, want, describe(tr))
			}
			count[got]++
			pairs--
		}
	}
	if count[Possible] < 10 || count[Impossible] < 10 {
		t.Errorf("%v: too few of one answer to mean anything", count)
	}
	t.Logf("%v (1: impossible, 2: possible)", count)
}
