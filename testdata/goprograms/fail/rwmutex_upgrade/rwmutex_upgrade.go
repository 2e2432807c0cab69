// kind: deadlock
// finding: Intern

// Package rwmutexupgrade takes the write lock of a table while it still holds the read lock,
// if the name is not there; whether it is depends on who came first.
package rwmutexupgrade

import "sync"

// Table numbers names.
type Table struct {
	mu  sync.RWMutex
	ids map[string]int
}

// Add numbers a name, if it is new.
func (t *Table) Add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.ids[name]; !ok {
		t.ids[name] = len(t.ids)
	}
}

// Intern returns a name's number, a new one if need be.
func (t *Table) Intern(name string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if id, ok := t.ids[name]; ok {
		return id
	}
	t.Add(name)
	return t.ids[name]
}

// cause: mu: t.mu.Lock() | t.mu.RLock()
