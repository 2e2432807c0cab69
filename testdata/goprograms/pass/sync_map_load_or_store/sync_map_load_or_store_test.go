package syncmaploadorstore

import (
	"sync"
	"testing"
)

func TestCounts(t *testing.T) {
	c := new(Counts)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.Add("word")
		}()
	}
	wg.Wait()
	if n := c.Of("word"); n != 2 {
		t.Errorf("count was lost: %d of 2", n)
	}
}
