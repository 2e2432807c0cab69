// kind: clean

// Package lrulostentry chooses and removes the victim in one critical section.
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
	if len(l.order) > l.limit {
		l.remove(l.order[0])
	}
	l.mu.Unlock()
}

func (l *LRU) remove(key string) {
	l.order = slices.DeleteFunc(l.order, func(k string) bool { return k == key })
}
