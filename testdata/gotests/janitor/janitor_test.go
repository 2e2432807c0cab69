// Package janitor has a test that leaves a cache's goroutine behind, which expires entries
// long after the test. All accesses are guarded by one mutex.
package janitor

import (
	"sync"
	"testing"
	"time"
)

func TestExpire(t *testing.T) {
	var mu sync.Mutex
	expired := map[int]int{}
	go func() {
		for second := range 3000 {
			time.Sleep(time.Second)
			if second > 60 {
				mu.Lock()
				expired[second%3]++
				mu.Unlock()
			}
		}
	}()
	time.Sleep(time.Second / 2)
	mu.Lock()
	defer mu.Unlock()
	if len(expired) > 0 {
		t.Error(expired)
	}
}
