package hard

import (
	"sync"
	"testing"
)

// Two thousand goroutines at once.
func TestTwoThousand(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 2000 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
	if n != 2000 {
		t.Error(n)
	}
}
