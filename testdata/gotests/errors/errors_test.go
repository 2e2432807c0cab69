// Package errors has tests that continue after their first failure.
package errors

import (
	"runtime"
	"sync"
	"testing"
)

// lost adds one to a counter in each of two goroutines, without holding the lock in between. It
// returns the counter.
func lost() int {
	var mu sync.Mutex
	n := 0
	get := func() int { mu.Lock(); defer mu.Unlock(); return n }
	set := func(x int) { mu.Lock(); defer mu.Unlock(); n = x }
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			set(get() + 1)
		}()
	}
	wg.Wait()
	return n
}

// TestGoesOn fails, logs and returns: the failure is the finding, and the log its output.
func TestGoesOn(t *testing.T) {
	t.Cleanup(func() { t.Log("cleaned up") })
	if n := lost(); n != 2 {
		t.Errorf("an update was lost: %d", n)
		t.Log("logged afterwards")
	}
}

// TestSubtests fails in a subtest; the next one runs.
func TestSubtests(t *testing.T) {
	t.Run("first", func(t *testing.T) {
		if lost() != 2 {
			t.Fatal("fatal in the first subtest")
		}
	})
	t.Run("second", func(t *testing.T) { t.Log("the second subtest runs") })
}

// TestStuck fails in a goroutine that therefore does not send: the test waits forever. The failure
// is the finding.
func TestStuck(t *testing.T) {
	done := make(chan struct{})
	go func() {
		if lost() != 2 {
			t.Error("stuck after this")
			runtime.Goexit()
		}
		close(done)
	}()
	<-done
}

// TestPanics fails, and then a panic ends the process: the panic is the finding.
func TestPanics(t *testing.T) {
	if lost() != 2 {
		t.Error("panics after this")
		panic("the panic is worse")
	}
}
