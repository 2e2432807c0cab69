package sliceappendrace

import (
	"fmt"
	"sync"
	"testing"
)

func TestErrors(t *testing.T) {
	e := new(Errors)
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e.Add(fmt.Errorf("error %d", i))
		}()
	}
	wg.Wait()
	if len(e.list) != 2 {
		t.Errorf("%d errors of 2", len(e.list))
	}
}
