// kind: test failure
// finding: count was lost
// minimum: switches=4

// Package syncmaploadorstore stores a new counter by LoadOrStore and counts with its own one,
// although the map may have had one.
//
// Fewest switches: a count is lost if a counter is replaced or passed over. Both goroutines
// must find the key missing, so one's lookup lies before the other's LoadOrStore, and the one
// that comes second goes on after that: three intervals, and the test's goroutine before and
// after.
package syncmaploadorstore

import (
	"sync"
	"sync/atomic"
)

// Counts counts words.
type Counts struct {
	words sync.Map // of *atomic.Int32
}

// Add counts a word.
func (c *Counts) Add(word string) {
	n, ok := c.words.Load(word)
	if !ok {
		n = new(atomic.Int32)
		c.words.LoadOrStore(word, n)
	}
	n.(*atomic.Int32).Add(1)
}

// Of returns how often a word was counted.
func (c *Counts) Of(word string) int32 {
	n, ok := c.words.Load(word)
	if !ok {
		return 0
	}
	return n.(*atomic.Int32).Load()
}

// cause: : n, ok := c.words.Load(word) | c.words.LoadOrStore(word, n)
