package onceandlock

import "testing"

func TestRegistry(t *testing.T) {
	r := new(Registry)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Add("own")
	}()
	if n := r.Names(); n[0] != "default" {
		t.Errorf("names are %q", n)
	}
	<-done
}
