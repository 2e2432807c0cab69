package condwaitif

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestTake(t *testing.T) {
	q := NewQueue()
	var wg sync.WaitGroup
	var sum atomic.Int64
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sum.Add(int64(q.Take()))
		}()
	}
	q.Put(1)
	q.Put(2)
	wg.Wait()
	if sum.Load() != 3 {
		t.Errorf("sum is %d", sum.Load())
	}
}
