package rwmutexrecursiveread

import "testing"

func TestTotal(t *testing.T) {
	s := &Stock{red: 3, yellow: 4}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Repaint()
	}()
	if n := s.Total(); n != 7 {
		t.Errorf("%d items", n)
	}
	<-done
}
