// kind: clean

// Package abba locks two accounts in the order of their numbers.
package abba

import "sync"

// Account is a balance behind a lock.
type Account struct {
	id      int
	mu      sync.Mutex
	balance int
}

// Transfer moves an amount between accounts.
func Transfer(from, to *Account, amount int) {
	first, second := from, to
	if first.id > second.id {
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	from.balance -= amount
	to.balance += amount
}
