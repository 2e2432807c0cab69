// kind: test failure
// finding: loaded twice

// Package singleflight takes a call out of the list of calls under way before its result is in
// the cache: a caller that comes between loads again.
package singleflight

import (
	"sync"
	"sync/atomic"
)

type call struct {
	done  chan struct{}
	value int
}

// Loader loads each key once, also for callers that come at the same time.
type Loader struct {
	mu    sync.Mutex
	calls map[string]*call
	cache map[string]int
	loads atomic.Int32
}

// NewLoader makes a loader with an empty cache.
func NewLoader() *Loader {
	return &Loader{calls: map[string]*call{}, cache: map[string]int{}}
}

// Get returns a key's value.
func (l *Loader) Get(key string) int {
	l.mu.Lock()
	if v, ok := l.cache[key]; ok {
		l.mu.Unlock()
		return v
	}
	if c, ok := l.calls[key]; ok {
		l.mu.Unlock()
		<-c.done
		return c.value
	}
	c := &call{done: make(chan struct{})}
	l.calls[key] = c
	l.mu.Unlock()

	l.loads.Add(1)
	c.value = len(key)

	l.mu.Lock()
	delete(l.calls, key)
	l.mu.Unlock()
	close(c.done)

	l.mu.Lock()
	l.cache[key] = c.value
	l.mu.Unlock()
	return c.value
}

// cause: map: v, ok := l.cache[key] | l.cache[key] = c.value
