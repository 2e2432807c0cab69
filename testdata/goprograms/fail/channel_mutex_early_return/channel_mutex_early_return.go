// kind: deadlock
// finding: Withdraw

// Package channelmutexearlyreturn uses a channel as a lock and returns early without giving it
// back, if there is not enough money.
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
	if a.balance < amount {
		return errFunds
	}
	a.balance -= amount
	<-a.lock
	return nil
}

// cause: balance: if a.balance < amount | a.balance += amount
