package waitgroupaddinside

import "testing"

func TestSum(t *testing.T) {
	one := func() int64 { return 1 }
	if n := Sum(one, one, one); n != 3 {
		t.Errorf("sum is %d, want 3", n)
	}
}
