package twolocksnapshot

import "testing"

func TestTotal(t *testing.T) {
	b := new(Bank)
	b.first.balance = 100
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Transfer(30)
	}()
	if n := b.Total(); n != 100 {
		t.Errorf("total is %d, want 100", n)
	}
	<-done
}
