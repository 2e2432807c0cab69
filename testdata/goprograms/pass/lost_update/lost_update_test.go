package lostupdate

import (
	"sync"
	"testing"
)

func TestDeposits(t *testing.T) {
	a := &Account{balance: 100}
	var wg sync.WaitGroup
	for _, amount := range []int{10, 20} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a.Deposit(amount)
		}()
	}
	wg.Wait()
	if b := a.Balance(); b != 130 {
		t.Errorf("a deposit was lost: balance is %d, want 130", b)
	}
}
