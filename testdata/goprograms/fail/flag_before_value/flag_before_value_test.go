package flagbeforevalue

import "testing"

func TestPort(t *testing.T) {
	l := new(Listener)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Listen()
	}()
	if p, ok := l.Port(); ok && p != 8080 {
		t.Errorf("ready, but port is %d", p)
	}
	<-done
}
