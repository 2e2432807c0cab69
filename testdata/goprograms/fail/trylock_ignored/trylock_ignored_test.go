package trylockignored

import (
	"sync"
	"testing"
)

func TestUpdate(t *testing.T) {
	s := new(Stats)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.Update()
		}()
	}
	wg.Wait()
	if s.updates != 2 {
		t.Errorf("update was dropped: %d of 2", s.updates)
	}
}
