// kind: clean

// Command closer_go has goroutines send their results into one channel.
// Fails: the order of the results depends on the schedule.
package main

import (
	"fmt"
	"sync"
)

func main() {
	ch := make(chan int)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ch <- i
		}()
	}
	go func() { wg.Wait(); close(ch) }()
	sum := 0
	for x := range ch {
		sum += x
	}
	fmt.Println(sum)
}
