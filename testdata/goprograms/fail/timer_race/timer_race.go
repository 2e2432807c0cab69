// kind: test failure
// finding: expired after it was renewed

// Package timerrace renews a lease by stopping its timer and setting a new one, but does not
// ask whether the old one was stopped: an expiry that has already begun ends the renewed
// lease.
package timerrace

import (
	"sync"
	"time"
)

// Lease is valid until it expires. A renewal that comes in time keeps it.
type Lease struct {
	mu      sync.Mutex
	timer   *time.Timer
	renewed bool
	valid   bool
	expired chan struct{} // has room; one token for each expiry that has run
}

// NewLease makes a valid lease.
func NewLease(d time.Duration) *Lease {
	l := &Lease{valid: true, expired: make(chan struct{}, 2)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start(d)
	return l
}

func (l *Lease) start(d time.Duration) {
	l.timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		l.valid = false
		l.mu.Unlock()
		l.expired <- struct{}{}
	})
}

// Renew makes a lease that is still valid last for d from now. It says whether it was.
func (l *Lease) Renew(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.valid {
		return false
	}
	if !l.timer.Stop() {
		l.renewed = true // the old expiry runs already
	}
	l.start(d)
	return true
}

// Valid reports whether the lease is valid.
func (l *Lease) Valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.valid
}

// Stop gives the lease up and waits for an expiry that runs.
func (l *Lease) Stop() {
	l.mu.Lock()
	stopped, overtaken := l.timer.Stop(), l.renewed
	l.mu.Unlock()
	if !stopped {
		<-l.expired
	}
	if overtaken {
		<-l.expired
	}
}

// cause: valid: l.valid = false | if !l.valid
