// kind: panic
// finding: a deposit was lost
// minimum: switches=4

// Command lost_update pays into an account from two goroutines, in two
// critical sections each, so that one of the deposits can be lost.
//
// Fewest switches: one depositor's interval lies between the other's two steps, and main comes
// before and after them.
package main

import "sync"

type account struct {
	mu      sync.Mutex
	balance int
}

func (a *account) get() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

func (a *account) set(balance int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance = balance
}

func (a *account) deposit(amount int) { a.set(a.get() + amount) }

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
