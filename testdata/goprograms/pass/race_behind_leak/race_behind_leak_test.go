package racebehindleak

import "testing"

func TestSum(t *testing.T) {
	s := New()
	s.Put(1)
	s.Close()
	if s.total != 1 {
		t.Error(s.total)
	}
}
