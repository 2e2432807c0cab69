package barrierreuse

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestBarrier(t *testing.T) {
	b := NewBarrier(2)
	var steps atomic.Int32
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 2 {
				steps.Add(1)
				b.Await()
			}
		}()
	}
	wg.Wait()
	if n := steps.Load(); n != 4 {
		t.Errorf("%d steps", n)
	}
}
