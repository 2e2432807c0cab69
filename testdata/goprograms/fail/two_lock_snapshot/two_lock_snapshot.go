// kind: test failure
// finding: total is
// minimum: switches=2

// Package twolocksnapshot adds up two accounts, each under its own lock, while money is moved
// between them.
//
// Fewest switches: the transfer comes between the two reads of the test's goroutine, which
// compares them itself: three intervals.
package twolocksnapshot

import "sync"

// Account is a balance behind a lock.
type Account struct {
	mu      sync.Mutex
	balance int
}

func (a *Account) get() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

// Bank has two accounts.
type Bank struct{ first, second Account }

func (b *Bank) lock() (unlock func()) {
	b.first.mu.Lock()
	b.second.mu.Lock()
	return func() {
		b.second.mu.Unlock()
		b.first.mu.Unlock()
	}
}

// Transfer moves money from the first account to the second.
func (b *Bank) Transfer(amount int) {
	defer b.lock()()
	b.first.balance -= amount
	b.second.balance += amount
}

// Total is the sum of the balances.
func (b *Bank) Total() int {
	return b.first.get() + b.second.get()
}

// cause: balance: return a.balance | b.second.balance += amount
