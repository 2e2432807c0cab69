package failnowgoroutine

import "testing"

func TestProbe(t *testing.T) {
	s := new(Server)
	s.version.Store(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.version.Store(2)
	}()
	if v := Probe(t, s); v != 1 {
		t.Errorf("version is %d", v)
	}
	<-done
}
