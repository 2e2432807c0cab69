package waves

import "testing"

func TestWaves(t *testing.T) {
	if n := Count(100, 1000); n != 100_000 {
		t.Errorf("%d goroutines, want 100000", n)
	}
}
