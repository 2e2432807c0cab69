// kind: clean

// Package twolocksnapshot adds up two accounts with both locks held, as the transfer holds
// them.
package twolocksnapshot

import "sync"

// Account is a balance behind a lock.
type Account struct {
	mu      sync.Mutex
	balance int
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
	defer b.lock()()
	return b.first.balance + b.second.balance
}
