// kind: clean

// Package rwmutexupgrade gives the read lock of a table back before it takes the write lock,
// and looks again.
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
	id, ok := t.ids[name]
	t.mu.RUnlock()
	if !ok {
		t.Add(name)
		t.mu.RLock()
		id = t.ids[name]
		t.mu.RUnlock()
	}
	return id
}
