package finding

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A hang by the step budget says how to enlarge it; one by the watchdog does not.
func TestHangNamesTheFlag(t *testing.T) {
	for message, want := range map[string]bool{
		"step budget":                 true,
		"the step budget is used up":  true,
		"watchdog: the program …":     false,
		"":                            false,
		"all threads only yield here": false,
	} {
		f := Of(trace.Ending{Kind: trace.Hang, Message: message}, nil)
		if strings.Contains(f.Message, "--max-steps") != want || f.Message == "" {
			t.Errorf("%q: %q", message, f.Message)
		}
	}
}
