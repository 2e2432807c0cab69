package checkthenact

import (
	"sync"
	"testing"
)

func TestWithdraw(t *testing.T) {
	a := &Account{balance: 100}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a.Withdraw(70)
		}()
	}
	wg.Wait()
	if b := a.Balance(); b < 0 {
		t.Errorf("overdrawn: balance is %d", b)
	}
}
