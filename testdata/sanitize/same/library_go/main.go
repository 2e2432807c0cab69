// kind: clean

// Command library_go has goroutines that fill maps of their own, and a main that prints with package fmt and stores into a
// sync.Map: Go's library draws random numbers for all of these.
package main

import (
	"fmt"
	"sync"
)

func main() {
	words := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "a", "b"}
	counts := make([]int, 3)
	var wg sync.WaitGroup
	for i := range counts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m := map[string]int{}
			for n, w := range words {
				m[w] += n
			}
			counts[i] = m["a"] + m["b"]
		}()
	}
	wg.Wait()
	var all sync.Map
	for i, n := range counts {
		all.Store(i, n)
		fmt.Println(i, n)
	}
	n, _ := all.Load(1)
	fmt.Println(n)
}
