package result

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/trace"
)

// The advice after early timeouts names a flag that goes with those given: --no-early-timeouts does not
// go with --early-timeouts.
func TestEarlyAdvice(t *testing.T) {
	for _, given := range []bool{false, true} {
		var b strings.Builder
		var enabled trace.ThreadSet
		enabled.Add(0)
		// T1 waits, and T0 could run
		tr := &trace.Trace{Threads: []trace.Thread{{Parent: -1}, {ID: 1, Nth: 1}}, Events: []trace.Event{{Thread: 1, Op: trace.OpCondTimeout, Flags: trace.FlagTimeout, Enabled: enabled}}}
		if tr.Overtakings() == 0 {
			t.Fatal("the trace has no early timeout")
		}
		r := &engine.Report{Executions: 1, Finding: &engine.Finding{Kind: "panic", Recorded: tr}}
		p := &Printer{Words: &b, Errors: &b, Screen: &b, EarlyTimeouts: given}
		if err := p.Find(r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "Without --early-timeouts") != given || !strings.Contains(b.String(), "--no-early-timeouts") {
			t.Errorf("--early-timeouts %v:\n%s", given, b.String())
		}
	}
}
