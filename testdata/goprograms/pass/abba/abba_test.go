package abba

import (
	"sync"
	"testing"
)

func TestTransfer(t *testing.T) {
	a, b := &Account{id: 1, balance: 100}, &Account{id: 2, balance: 100}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		Transfer(a, b, 10)
	}()
	go func() {
		defer wg.Done()
		Transfer(b, a, 20)
	}()
	wg.Wait()
	if a.balance != 110 || b.balance != 90 {
		t.Errorf("balances are %d and %d", a.balance, b.balance)
	}
}
