package lockorderthree

import (
	"sync"
	"testing"
)

func TestSwap(t *testing.T) {
	r := new(Ring)
	for i := range r {
		r[i].value = i + 1
	}
	var wg sync.WaitGroup
	for i := range r {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r.swap(i)
		}()
	}
	wg.Wait()
	if r.Sum() != 6 {
		t.Errorf("sum is %d", r.Sum())
	}
}
