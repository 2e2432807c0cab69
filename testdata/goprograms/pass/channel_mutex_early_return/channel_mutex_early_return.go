// kind: clean

// Package channelmutexearlyreturn uses a channel as a lock and gives it back on every way out.
package channelmutexearlyreturn

import "errors"

var errFunds = errors.New("not enough money")

// Account is a balance behind a lock.
type Account struct {
	lock    chan struct{}
	balance int
}

// NewAccount makes an account.
func NewAccount(balance int) *Account {
	return &Account{make(chan struct{}, 1), balance}
}

// Deposit pays in.
func (a *Account) Deposit(amount int) {
	a.lock <- struct{}{}
	a.balance += amount
	<-a.lock
}

// Withdraw takes money out.
func (a *Account) Withdraw(amount int) error {
	a.lock <- struct{}{}
	defer func() { <-a.lock }()
	if a.balance < amount {
		return errFunds
	}
	a.balance -= amount
	return nil
}
