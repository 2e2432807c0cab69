package need

import (
	"os"
	"testing"
)

// Speed skips a test that compares times, except for make bench-check: a busy machine fails it without a fault. Such a
// test measures both sides in turn and takes the best of Tries; its name begins with TestSpeed.
func Speed(t testing.TB) {
	t.Helper()
	if os.Getenv("HEDDLE_SPEED") == "" {
		t.Skip("it compares times: make bench-check runs it")
	}
}

// Tries is how often a comparison of times is tried before it fails.
const Tries = 10
