// Package masked has a test with two independent bugs, of which the first hides the second, and the
// same test without either.
package masked

import (
	"sync"
	"sync/atomic"
	"testing"
)

// both runs two functions at once.
func both(one, two func()) {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); one() }()
	go func() { defer wg.Done(); two() }()
	wg.Wait()
}

// TestMasked loses an update if one goroutine is preempted between its read and its write, and then
// ends. Otherwise it goes on with two goroutines that take two locks in opposite orders.
func TestMasked(t *testing.T) {
	var n atomic.Int64
	add := func() {
		seen := n.Load()
		n.Store(seen + 1)
	}
	both(add, add)
	if n.Load() != 2 {
		t.Fatal("an update was lost")
	}
	var a, b sync.Mutex
	both(func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
	}, func() {
		b.Lock()
		a.Lock()
		a.Unlock()
		b.Unlock()
	})
}

// TestCorrect adds in one step, and takes the locks in one order.
func TestCorrect(t *testing.T) {
	var n atomic.Int64
	add := func() { n.Add(1) }
	both(add, add)
	if n.Load() != 2 {
		t.Fatal("an update was lost")
	}
	var a, b sync.Mutex
	inOrder := func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
	}
	both(inOrder, inOrder)
}

// TestAlways fails under every schedule.
func TestAlways(t *testing.T) {
	both(func() {}, func() {})
	t.Fatal("never right")
}
