package missingclose

import "testing"

func TestCollect(t *testing.T) {
	f := NewFeed(2)
	go f.produce(1)
	go f.produce(2)
	if sum := f.Collect(); sum != 3 {
		t.Errorf("sum is %d", sum)
	}
}
