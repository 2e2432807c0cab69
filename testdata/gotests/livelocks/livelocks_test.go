// Package livelocks has tests that never end: each must be found.
package livelocks

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Livelocks: each must be found.

func TestLoad(t *testing.T) {
	var a atomic.Bool
	for !a.Load() {
	}
}

func TestYield(t *testing.T) {
	var a atomic.Bool
	go func() {
		for !a.Load() {
			runtime.Gosched()
		}
	}()
	for !a.Load() {
		runtime.Gosched()
	}
}

var plain bool

func TestPlain(t *testing.T) {
	for !plain {
		runtime.Gosched()
	}
}

func TestField(t *testing.T) { // of a block that no synchronisation uses
	s := &struct {
		turns int
		stop  bool
	}{}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for !s.stop {
			runtime.Gosched()
		}
	}()
	wg.Wait()
}

func TestTry(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	for !mu.TryLock() {
	}
}

func TestSelect(t *testing.T) {
	c := make(chan int)
	for {
		select {
		case <-c:
		default:
			continue
		}
		break
	}
}

func TestCas(t *testing.T) {
	var a atomic.Int32
	a.Store(1)
	for !a.CompareAndSwap(0, 1) {
	}
}

func TestFinished(t *testing.T) { // whoever would have set it has ended
	var a, b atomic.Bool
	go func() {
		if b.Load() {
			return
		}
		a.Store(true)
	}()
	b.Store(true)
	for !a.Load() {
	}
}
