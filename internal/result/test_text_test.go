package result

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
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
