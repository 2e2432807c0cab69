// kind: clean

// Package panicingoroutine reads the top of a stack in the critical section in which it looks
// whether there is one.
package panicingoroutine

import "sync"

// Stack is a stack of numbers.
type Stack struct {
	mu    sync.Mutex
	items []int
}

// Len is the number of items.
func (s *Stack) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}

// At returns item i.
func (s *Stack) At(i int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[i]
}

// Top returns the top item, 0 if none exists.
func (s *Stack) Top() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.items); n > 0 {
		return s.items[n-1]
	}
	return 0
}

// Pop removes the top item, if there is one.
func (s *Stack) Pop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.items); n > 0 {
		s.items = s.items[:n-1]
	}
}
