package atomiccheckthenact

import (
	"sync"
	"testing"
)

func TestEnter(t *testing.T) {
	r := new(Room)
	r.limit.Store(1)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r.Enter()
		}()
	}
	wg.Wait()
	if n := r.inside.Load(); n > 1 {
		t.Errorf("over the limit: %d inside", n)
	}
}
