package semaphoreearlyrelease

import (
	"sync"
	"testing"
)

func TestRun(t *testing.T) {
	w := &Workers{places: make(chan struct{}, 1)}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.Run(func() {})
		}()
	}
	wg.Wait()
	if m := w.most.Load(); m > 1 {
		t.Errorf("%d jobs at the same time", m)
	}
}
