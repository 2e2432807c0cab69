// kind: clean

// Command lost_update pays into an account from two goroutines, in one
// critical section each.
package main

import "sync"

type account struct {
	mu      sync.Mutex
	balance int
}

func (a *account) deposit(amount int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += amount
}

func main() {
	var a account
	var wg sync.WaitGroup
	for _, amount := range []int{10, 20} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a.deposit(amount)
		}()
	}
	wg.Wait()
	if a.balance != 30 {
		panic("a deposit was lost")
	}
}
