package lrulostentry

import "testing"

func TestLRU(t *testing.T) {
	l := &LRU{limit: 2}
	l.Put("a")
	l.Put("b")
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Put("c")
	}()
	used := l.Get("a")
	<-done
	if used && !l.Get("a") {
		t.Errorf("entry was lost although it was used last: %q", l.order)
	}
}
