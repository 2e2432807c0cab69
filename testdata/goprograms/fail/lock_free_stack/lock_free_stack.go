// kind: test failure
// finding: handed out twice
// minimum: switches=2

// Package lockfreestack is a lock-free stack of numbered nodes whose head has no version: a
// node that was popped and pushed again between the load and the compare-and-swap goes
// unnoticed (ABA).
//
// Fewest switches: the test's goroutine is left between its loads and its compare-and-swap,
// the other pops two nodes and pushes the first, the test's goroutine goes on and finds the
// second: three intervals.
package lockfreestack

import "sync/atomic"

// Stack is a free list of nodes 1, 2, ...; 0 is none.
type Stack struct {
	head atomic.Uint64
	next [8]atomic.Uint64
}

func node(head uint64) uint64           { return head }
func replaced(head, node uint64) uint64 { return node }

// Push puts a node on top.
func (s *Stack) Push(n uint64) {
	for {
		head := s.head.Load()
		s.next[n].Store(node(head))
		if s.head.CompareAndSwap(head, replaced(head, n)) {
			return
		}
	}
}

// Pop takes the top node, 0 if none exists.
func (s *Stack) Pop() uint64 {
	for {
		head := s.head.Load()
		n := node(head)
		if n == 0 {
			return 0
		}
		if s.head.CompareAndSwap(head, replaced(head, s.next[n].Load())) {
			return n
		}
	}
}

// cause: head: head := s.head.Load() | s.head.CompareAndSwap
