package reversible

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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

var _ = context.Background
