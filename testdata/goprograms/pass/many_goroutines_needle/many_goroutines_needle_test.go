package manygoroutinesneedle

import "testing"

func TestRelay(t *testing.T) {
	if n := new(Race).Run(); n != runners {
		t.Errorf("%d of %d arrived", n, runners)
	}
}
