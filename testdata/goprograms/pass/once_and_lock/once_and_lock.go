// kind: clean

// Package onceandlock loads its defaults once before any method takes the lock.
package onceandlock

import (
	"slices"
	"sync"
)

// Registry has names, some by default.
type Registry struct {
	mu    sync.Mutex
	once  sync.Once
	names []string
}

func (r *Registry) load() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, "default")
}

// Names returns the names.
func (r *Registry) Names() []string {
	r.once.Do(r.load)
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}

// Add adds a name after the default ones.
func (r *Registry) Add(name string) {
	r.once.Do(r.load)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
}
