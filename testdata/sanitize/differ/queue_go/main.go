// kind: clean

// Command queue_go has goroutines take tasks from a channel: which one takes a task depends on the
// schedule, so it is not pseudo-deterministic.
package main

import (
	"fmt"
	"sync"
)

func main() {
	tasks := make(chan int)
	results := make([]int, 6)
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for t := range tasks {
				results[t] = t * t
			}
		}()
	}
	for t := range results {
		tasks <- t
	}
	close(tasks)
	wg.Wait()
	fmt.Println(results)
}
