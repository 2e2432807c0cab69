package pattern

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A channel that is closed says nothing, unless a context closes it.
func TestCancelled(t *testing.T) {
	for closer, want := range map[string]string{"context.(*cancelCtx).cancel": Cancelled, "main.(*job).cancel": OrderViolation} {
		x := parse(t, `
			go
			T0 close done <1
			T1 select done <2
			ends test-failure
		`)
		x.Functions = func(*trace.Trace, int) []string { return []string{closer, "main.main"} }
		if got := Of(x); got.Pattern.Name != want {
			t.Errorf("%s: %s, want %s", closer, got.Pattern.Name, want)
		}
	}
}
