// kind: deadlock
// finding: Add

// Package onceandlock loads its defaults once, under its lock, and has a method that asks for
// that with the lock held: harmless once they are loaded.
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
	r.mu.Lock()
	defer r.mu.Unlock()
	r.once.Do(r.load)
	r.names = append(r.names, name)
}

// cause: mu: r.mu.Lock() | r.once.Do(r.load)
