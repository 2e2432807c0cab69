package oncerecursion

import "testing"

func TestSettings(t *testing.T) {
	s := new(Settings)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.set.Store(4)
	}()
	if n := s.Default(); n != 8 && n != 10 {
		t.Errorf("default is %d", n)
	}
	<-done
}
