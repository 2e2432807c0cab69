package rwmutexgap

import "testing"

func TestNames(t *testing.T) {
	n := new(Names)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Add("ada")
	}()
	n.Add("ada")
	<-done
	if len(n.list) != 1 {
		t.Errorf("ada is there twice: %q", n.list)
	}
}
