// kind: clean

// Package atomiccheckthenact admits a visitor by a compare-and-swap of the counter.
package atomiccheckthenact

import "sync/atomic"

// Room has a limited number of places.
type Room struct {
	limit, inside atomic.Int32
}

// Enter takes a place, if there is one.
func (r *Room) Enter() bool {
	for {
		n := r.inside.Load()
		if n >= r.limit.Load() {
			return false
		}
		if r.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}
