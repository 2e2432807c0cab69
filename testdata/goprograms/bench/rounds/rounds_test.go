package rounds

import "testing"

func TestCount(t *testing.T) {
	if n := Count(4, 5); n != 20 {
		t.Errorf("counted %d, want 20", n)
	}
}
