package report

import (
	"strings"
	"testing"
)

// TestUnexplainedSays: each reason has words of its own, and only two of them say that the schedule does not matter.
func TestUnexplainedSays(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range []Unexplained{OutOfTime, OutOfRuns, AlwaysFails, OneThread, FailsOtherwise, NotEnded, NoOrder, StartsTooLate, WaitsOutside} {
		said := r.Says(30, 4)
		if said == "" || seen[said] || strings.Contains(said, "does not depend") != r.Always() {
			t.Errorf("%s: %q", r, said)
		}
		seen[said] = true
	}
	if said := Unexplained("").Says(30, 4); said != "" {
		t.Error(said)
	}
}
