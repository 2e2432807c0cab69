package errorthenpanic

import "testing"

func TestDial(t *testing.T) {
	s := new(Server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Shutdown()
	}()
	c := s.Dial()
	if c == nil {
		t.Error("refused")
	}
	c.Send()
	<-done
}
