// Package before has tests that use what exists before their execution: goroutines, and timers that
// an earlier execution set. Tests whose names end in Wrong have a bug.
package before

import (
	"iter"
	"sync"
	"testing"
	"time"
)

var requests = make(chan chan bool)

func init() {
	go func() {
		for answer := range requests {
			answer <- true
		}
	}()
}

func ask() {
	answer := make(chan bool)
	requests <- answer
	<-answer
}

// The server is older than the test. Its answer comes after the write.
func TestServer(t *testing.T) {
	n := 0
	wrote := make(chan bool)
	go func() { n++; wrote <- true }()
	<-wrote
	ask()
	n++
}

// The server's answer orders nothing with the goroutine.
func TestServerWrong(t *testing.T) {
	n := 0
	go func() { n++ }()
	ask()
	n++
}

var kept = time.NewTimer(time.Hour)

// A timer of the package, set again by each execution.
func TestTimer(t *testing.T) {
	var mu sync.Mutex
	n := 0
	done := make(chan bool)
	kept.Reset(time.Millisecond)
	for range 2 {
		go func() { mu.Lock(); n++; mu.Unlock(); done <- true }()
	}
	<-kept.C
	<-done
	<-done
	if n != 2 {
		t.Error(n)
	}
}

// The same without the lock.
func TestTimerWrong(t *testing.T) {
	n := 0
	done := make(chan bool)
	kept.Reset(time.Millisecond)
	for range 2 {
		go func() { n++; done <- true }()
	}
	<-kept.C
	<-done
	<-done
}

func three(yield func(int) bool) {
	for i := range 3 {
		if !yield(i) {
			return
		}
	}
}

// Two goroutines take numbers from one sequence.
func pulled(hold bool) (got []int) {
	next, stop := iter.Pull(iter.Seq[int](three))
	defer stop()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			n, _ := next()
			if !hold {
				mu.Unlock()
				mu.Lock()
			}
			got = append(got, n)
			mu.Unlock()
		}()
	}
	wg.Wait()
	return got
}

func TestPull(t *testing.T) {
	if got := pulled(true); got[0] != 0 || got[1] != 1 {
		t.Error(got)
	}
}

// A number is taken and appended in two critical sections: the second number may come first.
func TestPullWrong(t *testing.T) {
	if got := pulled(false); got[0] != 0 || got[1] != 1 {
		t.Error(got)
	}
}
