package earlyreturnleak

import "testing"

func TestHealthy(t *testing.T) {
	if err := Healthy(2, 2, 1); err != errStale {
		t.Errorf("got %v", err)
	}
}
