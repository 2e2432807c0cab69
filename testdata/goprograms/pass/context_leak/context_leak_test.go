package contextleak

import "testing"

func TestFirstOver(t *testing.T) {
	if n := FirstOver(1); n != 2 {
		t.Errorf("first over 1 is %d", n)
	}
}
