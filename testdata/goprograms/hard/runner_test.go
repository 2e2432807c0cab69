package hard

import (
	"fmt"
	"sync"
	"testing"
)

func TestParallel(t *testing.T) {
	var mu sync.Mutex
	n := 0
	t.Cleanup(func() {
		if n != 4 {
			t.Error(n)
		}
	})
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			mu.Lock()
			defer mu.Unlock()
			n++
		})
	}
}

func FuzzSeeds(f *testing.F) {
	f.Add("a", 1)
	f.Add("b", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		c := make(chan string)
		go func() { c <- s }()
		if got := <-c; got != s {
			t.Error(got, n)
		}
	})
}

func Example() {
	c := make(chan int)
	go func() {
		for i := range 3 {
			c <- i
		}
		close(c)
	}()
	for i := range c {
		fmt.Println(i)
	}
	// Output:
	// 0
	// 1
	// 2
}
