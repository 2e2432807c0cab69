// kind: deadlock
// finding: evict

// Package doublelock is a cache that evicts its oldest entry with the lock held, through a
// method that locks again; it happens only if an insertion comes before the removal that would
// have made room.
package doublelock

import (
	"slices"
	"sync"
)

// Cache keeps at most limit keys.
type Cache struct {
	mu    sync.Mutex
	limit int
	keys  []string
}

func (c *Cache) evict() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = c.keys[1:]
}

// Put adds a key and evicts the oldest if there is no room.
func (c *Cache) Put(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) == c.limit {
		c.evict()
	}
	c.keys = append(c.keys, key)
}

// Remove takes a key out.
func (c *Cache) Remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.keys, key); i >= 0 {
		c.keys = slices.Delete(c.keys, i, i+1)
	}
}

// cause: keys: if len(c.keys) == c.limit | c.keys = slices.Delete
