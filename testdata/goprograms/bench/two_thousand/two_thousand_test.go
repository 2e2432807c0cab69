package twothousand

import "testing"

func TestChain(t *testing.T) {
	if v := Chain(2000); v != 2000 {
		t.Errorf("got %d, want 2000", v)
	}
}
