package workerdies

import "testing"

func TestFarm(t *testing.T) {
	if n := NewFarm(2, 2).Dispatch(2, 2, 2, 2); n > 4 {
		t.Errorf("%d jobs failed", n)
	}
}
