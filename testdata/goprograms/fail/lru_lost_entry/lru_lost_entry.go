// kind: test failure
// finding: entry was lost
// minimum: switches=4

// Package lrulostentry chooses the victim in one critical section and removes it in the next;
// the victim may have been used or replaced by then.
//
// Fewest switches: the use lies between the choice of the victim and its removal, and the
// test's goroutine, which uses it, also creates the other one and looks at the end: five
// intervals.
package lrulostentry

import (
	"slices"
	"sync"
)

// LRU keeps the entries used last.
type LRU struct {
	mu    sync.Mutex
	limit int
	order []string // least recently used first
}

func (l *LRU) touch(key string) {
	l.order = append(slices.DeleteFunc(l.order, func(k string) bool { return k == key }), key)
}

// Get says whether the key is there and makes it the one used last.
func (l *LRU) Get(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.order, key) {
		return false
	}
	l.touch(key)
	return true
}

// Put adds a key.
func (l *LRU) Put(key string) {
	l.mu.Lock()
	l.touch(key)
	victim, full := l.order[0], len(l.order) > l.limit
	l.mu.Unlock()
	if full {
		l.remove(victim)
	}
}

func (l *LRU) remove(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = slices.DeleteFunc(l.order, func(k string) bool { return k == key })
}

// cause: order: victim, full := l.order[0] | l.order = slices.DeleteFunc(l.order
