// kind: clean

// Package selectspin polls a channel that the first arrival closes; counting and finding out
// who is first are one step.
package selectspin

import "sync/atomic"

// Gate opens when the first guest arrives.
type Gate struct {
	guests atomic.Int32
	open   chan struct{}
}

// Arrive counts a guest.
func (g *Gate) Arrive() {
	if g.guests.Add(1) == 1 {
		close(g.open)
	}
}

// Await polls until the gate is open and returns the number of guests.
func (g *Gate) Await() int32 {
	for {
		select {
		case <-g.open:
			return g.guests.Load()
		default: // nothing yet: look again
		}
	}
}
