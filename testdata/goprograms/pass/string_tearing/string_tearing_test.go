package stringtearing

import "testing"

func TestStatus(t *testing.T) {
	s := new(Status)
	s.Set("up")
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Set("going down")
	}()
	if text := s.Get(); text != "up" && text != "going down" {
		t.Errorf("status is %q", text)
	}
	<-done
}
