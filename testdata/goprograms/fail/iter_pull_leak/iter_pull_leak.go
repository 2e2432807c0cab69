// kind: goroutine leak
// finding: walk

// Package iterpullleak pulls values from an iterator and returns without stop when it is told
// to: the iterator's coroutine stays.
package iterpullleak

import (
	"iter"
	"sync/atomic"
)

// Tree is a binary tree.
type Tree struct {
	left, right *Tree
	value       int
}

func (t *Tree) walk(yield func(int) bool) bool {
	return t == nil || t.left.walk(yield) && yield(t.value) && t.right.walk(yield)
}

// All yields the values in order.
func (t *Tree) All() iter.Seq[int] {
	return func(yield func(int) bool) { t.walk(yield) }
}

// Equal compares two trees, unless giveUp is set. ok reports whether it compared them.
func Equal(a, b *Tree, giveUp *atomic.Bool) (equal, ok bool) {
	nextA, stopA := iter.Pull(a.All())
	nextB, stopB := iter.Pull(b.All())
	for {
		va, okA := nextA()
		vb, okB := nextB()
		if va != vb || okA != okB || !okA {
			stopA()
			stopB()
			return va == vb && okA == okB, true
		}
		if giveUp.Load() {
			return false, false
		}
	}
}

// cause: giveUp: giveUp.Load()
