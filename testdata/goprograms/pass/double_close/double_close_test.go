package doubleclose

import "testing"

func TestClose(t *testing.T) {
	s := &Server{stopped: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Close()
	}()
	s.Close()
	<-done
	select {
	case <-s.stopped:
	default:
		t.Error("not stopped")
	}
}
