package lenthenreceive

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestDrain(t *testing.T) {
	ch := make(chan int, 3)
	for i := range 3 {
		ch <- i
	}
	var n atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			n.Add(drain(ch))
		}()
	}
	wg.Wait()
	if n.Load() != 3 {
		t.Errorf("%d received of 3", n.Load())
	}
}
