// kind: clean

// Command mutex_sum_go adds to a sum under a lock.
// Fails: which goroutine comes first depends on the schedule.
package main

import (
	"fmt"
	"sync"
)

func main() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	sum := 0
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			sum += i
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println(sum)
}
