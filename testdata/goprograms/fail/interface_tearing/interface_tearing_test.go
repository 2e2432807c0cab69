package interfacetearing

import "testing"

func TestArea(t *testing.T) {
	h := new(Holder)
	h.Set(&square{4})
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Set(&rectangle{3, 5})
	}()
	if a := h.Area(); a != 16 && a != 15 {
		t.Errorf("area is %d", a)
	}
	<-done
}
