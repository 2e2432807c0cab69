package result

import (
	"fmt"
	"strings"
	"testing"
)

// A campaign counts what happened, and says loudly that faults changed the outcome without a deviation.
func TestInjections(t *testing.T) {
	t.Parallel()
	x := &Injections{File: "f.jsonl", Head: InjectionsHead{Faults: 1000}}
	for i := range 10 {
		x.Add(&Injection{Number: i, Deviation: "data", Outcome: "benign", First: &DeviationEvent{}, Latency: i, Spread: 1 + i%2})
	}
	x.Finish()
	text := func() string {
		var b strings.Builder
		x.Print(&b)
		return b.String()
	}
	if s := text(); strings.Contains(s, "NOT EXPLAINED") || !strings.Contains(s, "another outcome without a deviation: 0 of 0") {
		t.Errorf("no other outcome:\n%s", s)
	}
	if want := (Quantiles{Median: 4, Most: 8, Max: 9}); x.Latency != want {
		t.Errorf("latency %+v, want %+v", x.Latency, want)
	}
	if want := (Quantiles{Median: 1, Most: 2, Max: 2}); x.Spread != want {
		t.Errorf("spread %+v, want %+v", x.Spread, want)
	}
	for _, number := range []int{12, 10} {
		x.Add(&Injection{Number: number, Deviation: "none", Outcome: "crash"})
	}
	x.Add(&Injection{Number: 11, Deviation: "data", Outcome: "detected", First: &DeviationEvent{}})
	x.Add(&Injection{Number: 13, Outcome: OutcomeUnknown})
	x.Finish()
	s := text()
	for _, want := range []string{
		"another outcome without a deviation: 2 of 3 ",
		"NOT EXPLAINED: faults 10 12 of f.jsonl changed the outcome, and heddle saw no deviation",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if x.Unknown != 1 || x.Total != 14 {
		t.Errorf("%+v", x)
	}
}

// Where all possible faults were injected, or have no occasion, nothing is estimated.
func TestAllInjections(t *testing.T) {
	t.Parallel()
	x := &Injections{File: "f.jsonl", Head: InjectionsHead{Model: "m", Faults: 4}}
	for i := range 3 {
		x.Add(&Injection{Number: i, Deviation: "data", Outcome: "benign"})
	}
	text := func() string {
		x.Finish()
		var b strings.Builder
		x.Print(&b)
		return b.String()
	}
	if s := text(); x.All || x.Cells[0].Interval == nil || !strings.Contains(s, "3 of 4 faults of m") || !strings.Contains(s, "interval") {
		t.Errorf("three of four: %+v\n%s", x, s)
	}
	x.Add(&Injection{Number: 3, Outcome: OutcomeNoOccasion})
	if s := text(); !x.All || x.Total != 3 || x.Cells[0].Interval != nil || !strings.Contains(s, "3 faults of m") || strings.Contains(s, "interval") {
		t.Errorf("all: %+v\n%s", x, s)
	}
}

// The intervals are those of Newcombe 1998 (table I, method 3) for 81 of 263, 15 of 148, 0 of 20 and 1 of 29.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		k, n      int
		low, high string
	}{{81, 263, "0.2553", "0.3662"}, {15, 148, "0.0624", "0.1605"}, {0, 20, "0.0000", "0.1611"}, {1, 29, "0.0061", "0.1718"}} {
		w := wilson(test.k, test.n)
		if low, high := four(w[0]), four(w[1]); low != test.low || high != test.high {
			t.Errorf("%d of %d: %s to %s, want %s to %s", test.k, test.n, low, high, test.low, test.high)
		}
	}
}

func four(p float64) string { return fmt.Sprintf("%.4f", p) }
