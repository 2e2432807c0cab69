package atomicpublication

import "testing"

func TestAddress(t *testing.T) {
	h := new(Holder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Load("localhost", 80)
	}()
	if a := h.Address(); a != "" && a != "localhost:80" {
		t.Errorf("half a configuration: %q", a)
	}
	<-done
}
