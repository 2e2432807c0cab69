package lockcopied

import (
	"sync"
	"testing"
)

func TestHits(t *testing.T) {
	var count int
	h := &Hits{count: &count}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			h.Hit()
		}()
	}
	wg.Wait()
	if count != 2 {
		t.Errorf("%d hits of 2", count)
	}
}
