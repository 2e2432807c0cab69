package condsignalnotbroadcast

import (
	"sync"
	"testing"
)

func TestUnits(t *testing.T) {
	u := NewUnits(0)
	var wg sync.WaitGroup
	small := make(chan struct{})
	wg.Add(2)
	go func() {
		defer wg.Done()
		u.Acquire(2)
	}()
	go func() {
		defer wg.Done()
		u.Acquire(1)
		close(small)
	}()
	u.Release(1)
	<-small
	u.Release(2)
	wg.Wait()
	if u.free != 0 {
		t.Errorf("%d units free", u.free)
	}
}
