package singleflight

import "testing"

func TestGet(t *testing.T) {
	l := NewLoader()
	done := make(chan int)
	go func() { done <- l.Get("key") }()
	if v := l.Get("key"); v != 3 {
		t.Errorf("value is %d", v)
	}
	<-done
	if n := l.loads.Load(); n != 1 {
		t.Errorf("loaded twice: %d loads", n)
	}
}
