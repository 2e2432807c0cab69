package racebehindleak

import "testing"

func TestSum(t *testing.T) {
	s := New()
	s.Put(1)
	if s.total > 1 {
		t.Error(s.total)
	}
}
