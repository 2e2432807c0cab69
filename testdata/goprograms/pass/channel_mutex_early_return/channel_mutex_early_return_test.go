package channelmutexearlyreturn

import "testing"

func TestAccount(t *testing.T) {
	a := NewAccount(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Deposit(50)
	}()
	for range 2 {
		if err := a.Withdraw(20); err != nil && err != errFunds {
			t.Error(err)
		}
	}
	<-done
}
