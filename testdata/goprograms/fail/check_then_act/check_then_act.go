// kind: test failure
// finding: overdrawn
// minimum: switches=4

// Package checkthenact checks an account's funds in one critical section and takes the money
// in the next, so two withdrawals can spend the same money.
//
// Fewest switches: the second check must come before the first withdrawal and the check and
// the withdrawal of one customer are two steps, so one customer's interval lies between two of
// the other's; the test's goroutine comes before and after: five intervals.
package checkthenact

import "sync"

// Account is a balance behind a lock.
type Account struct {
	mu      sync.Mutex
	balance int
}

// Balance reads the balance.
func (a *Account) Balance() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

// Withdraw takes the amount if there is as much, and says whether it did.
func (a *Account) Withdraw(amount int) bool {
	if a.Balance() < amount {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance -= amount
	return true
}

// cause: balance: return a.balance | a.balance -= amount
