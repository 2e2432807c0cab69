package mapconcurrentwrite

import (
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	x := &Index{words: map[int]string{}}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		x.Add("a", "bb", "ccc")
	}()
	go func() {
		defer wg.Done()
		x.Add("dddd", "eeeee", "ffffff")
	}()
	wg.Wait()
	if len(x.words) != 6 {
		t.Errorf("%d words", len(x.words))
	}
}
