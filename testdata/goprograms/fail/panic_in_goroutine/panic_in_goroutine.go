// kind: panic
// finding: index out of range
// minimum: switches=3

// Package panicingoroutine asks for the length of a stack and reads the top in the next
// critical section; an item can be popped between them.
//
// Fewest switches: the pop lies between the reader's two steps, and the test's goroutine,
// which pops, also creates the reader: four intervals.
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
	if n := s.Len(); n > 0 {
		return s.At(n - 1)
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

// cause: items: return len(s.items) | s.items = s.items[:n-1]
