package result

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
)

// The line about the kept trace says how far it is simplified.
func TestKeptSimplified(t *testing.T) {
	for _, c := range []struct {
		known bool
		sim   *engine.Simplified
		want  string
	}{
		{false, nil, "kept in:    x.hdl (as found, not simplified)\n"},
		{false, &engine.Simplified{Complete: true, Confirmed: true}, "kept in:    x.hdl (simplified; minimal: no schedule of its scheduling points with fewer context switches fails)\n"},
		{false, &engine.Simplified{Unproven: "why", Confirmed: true}, "kept in:    x.hdl (simplified; the best found; why)\n"},
		{
			false, &engine.Simplified{Unproven: "why", Confirmed: true, Switches: 418, Details: &tinertia.Result{Fewest: 418}},
			"kept in:    x.hdl (simplified; the best found; no other order of its independent operations has fewer than 418 context switches; why)\n",
		},
		{false, &engine.Simplified{Unproven: "why", Confirmed: true, Switches: 418, Details: &tinertia.Result{Fewest: 417}}, "kept in:    x.hdl (simplified; the best found; why)\n"},
		{false, &engine.Simplified{Cut: true, Confirmed: true}, "kept in:    x.hdl (simplified; incomplete; heddle simplify continues from it)\n"},
		{true, nil, "kept in:    x.hdl\n"},
	} {
		var b strings.Builder
		out := &Test{Search: Search{Outcome: Found}, Finding: &Finding{Kind: "panic"}, Trace: "x.hdl", Known: c.known, Report: &engine.Report{Simplified: c.sim}}
		if err := (&Printer{Words: &b, Errors: &b}).Test(out); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%v\n%s\nwant %q", err, b.String(), c.want)
		}
	}
}

// TestSimplifying: the executions after the result show something only if all schedules were tried.
func TestSimplifying(t *testing.T) {
	r := &tinertia.Result{LastGain: 1593, Afterwards: 20}
	if got, want := Simplifying(r), "1,593 until the result, 20 that found nothing smaller"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Complete = true
	if got, want := Simplifying(r), "1,593 until the result, 20 to show that nothing smaller exists"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
