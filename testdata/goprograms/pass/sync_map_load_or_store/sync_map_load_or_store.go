// kind: clean

// Package syncmaploadorstore counts with the counter that LoadOrStore returns.
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
		n, _ = c.words.LoadOrStore(word, new(atomic.Int32))
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
