package doublelock

import (
	"slices"
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	c := &Cache{limit: 2}
	c.Put("a")
	c.Put("b")
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		c.Remove("a")
	}()
	go func() {
		defer wg.Done()
		c.Put("c")
	}()
	wg.Wait()
	if !slices.Equal(c.keys, []string{"b", "c"}) {
		t.Errorf("keys are %q", c.keys)
	}
}
