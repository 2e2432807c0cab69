// kind: clean

// Command map_order_go has goroutines that begin to iterate over a map.
// Fails, although no order of two goroutines matters: Go draws where an iteration begins.
package main

import (
	"fmt"
	"sync"
)

func main() {
	m := map[int]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 5}
	first := make([]int, 2)
	var wg sync.WaitGroup
	for i := range first {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range m {
				first[i] = k
				break
			}
		}()
	}
	wg.Wait()
	fmt.Println(first)
}
