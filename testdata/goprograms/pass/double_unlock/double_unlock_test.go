package doubleunlock

import "testing"

func TestGuard(t *testing.T) {
	g := new(Guard)
	g.Acquire()
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Release()
	}()
	g.Release()
	<-done
	g.Acquire()
	g.Release()
}
