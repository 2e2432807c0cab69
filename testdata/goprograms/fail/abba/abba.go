// kind: deadlock
// finding: Transfer

// Package abba locks the paying account first and the paid one second, so two opposite
// transfers can wait for each other.
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
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.balance -= amount
	to.balance += amount
}

// cause: mu: from.mu.Lock() | to.mu.Lock()
