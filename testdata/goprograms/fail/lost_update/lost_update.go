// kind: test failure
// finding: a deposit was lost
// minimum: switches=4

// Package lostupdate is an account that is read and written under its lock, but in two
// critical sections, so that one of two deposits can be lost.
//
// Fewest switches: the lost deposit needs three intervals, one depositor's read, the other's
// deposit, the first one's write. The test's goroutine comes before them, since it creates
// both, and after them with the comparison: five intervals.
package lostupdate

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

func (a *Account) set(balance int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance = balance
}

// Deposit pays in.
func (a *Account) Deposit(amount int) {
	a.set(a.Balance() + amount)
}

// cause: balance: return a.balance | a.balance = balance
