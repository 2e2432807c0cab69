// kind: test failure
// finding: over the limit
// minimum: switches=4

// Package atomiccheckthenact admits a visitor if the counter is below the limit and counts
// after that; each step is atomic, the two together are not.
//
// Fewest switches: a visitor looks, another looks and is counted, the first is counted: three
// intervals. The test's goroutine comes before and after them.
package atomiccheckthenact

import "sync/atomic"

// Room has a limited number of places.
type Room struct {
	limit, inside atomic.Int32
}

// Enter takes a place, if there is one.
func (r *Room) Enter() bool {
	if r.inside.Load() >= r.limit.Load() {
		return false
	}
	r.inside.Add(1)
	return true
}

// cause: inside: r.inside.Load() | r.inside.Add(1)
