package errorthenpanic

import "testing"

func TestDial(t *testing.T) {
	s := new(Server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Shutdown()
	}()
	if c := s.Dial(); c != nil {
		c.Send()
	}
	<-done
}
