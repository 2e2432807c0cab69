// kind: clean

// Package rwmutexgap looks a name up under the read lock, and again under the write lock
// before it adds it.
package rwmutexgap

import (
	"slices"
	"sync"
)

// Names is a list without duplicates.
type Names struct {
	mu   sync.RWMutex
	list []string
}

// Add adds a name that is not there.
func (n *Names) Add(name string) {
	n.mu.RLock()
	found := slices.Contains(n.list, name)
	n.mu.RUnlock()
	if found {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.Contains(n.list, name) {
		return
	}
	n.list = append(n.list, name)
}
