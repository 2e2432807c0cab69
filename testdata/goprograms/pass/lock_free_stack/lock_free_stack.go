// kind: clean

// Package lockfreestack is a lock-free stack of numbered nodes whose head has a version.
package lockfreestack

import "sync/atomic"

// Stack is a free list of nodes 1, 2, ...; 0 is none.
type Stack struct {
	head atomic.Uint64
	next [8]atomic.Uint64
}

func node(head uint64) uint64           { return head & 0xffff }
func replaced(head, node uint64) uint64 { return (head>>16+1)<<16 | node }

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
