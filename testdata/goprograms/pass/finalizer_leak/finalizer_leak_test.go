package finalizerleak

import "testing"

func TestPut(t *testing.T) {
	if n := New().Put(); n != 1 {
		t.Errorf("count is %d", n)
	}
}
