// kind: test failure
// finding: twice
// minimum: switches=2

// Package rwmutexgap looks a name up under the read lock and adds it under the write lock
// without looking again.
//
// Fewest switches: the test's goroutine looks, the other one looks and adds, the test's
// goroutine adds and compares: three intervals.
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
	n.list = append(n.list, name)
}

// cause: list: found := slices.Contains | n.list = append
