// kind: hang
// finding: Await

// Package selectspin polls a channel that the first arrival closes; who is first is read after
// the arrival was counted, so two arrivals can both find that they are not.
package selectspin

import "sync/atomic"

// Gate opens when the first guest arrives.
type Gate struct {
	guests atomic.Int32
	open   chan struct{}
}

// Arrive counts a guest.
func (g *Gate) Arrive() {
	g.guests.Add(1)
	if g.guests.Load() == 1 {
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

// cause: guests: g.guests.Add(1) | g.guests.Load() == 1
