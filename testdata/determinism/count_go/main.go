// kind: clean

// Command count_go stores how many goroutines exist.
// Fails: the other goroutine may have ended, or not, although a sample of schedules hardly shows it.
package main

import (
	"os"
	"runtime"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	n := 0
	wg.Add(2)
	go func() { defer wg.Done() }()
	go func() {
		defer wg.Done()
		for range 100 {
			var mu sync.Mutex
			mu.Lock()
			mu.Unlock()
		}
		n = runtime.NumGoroutine()
	}()
	wg.Wait()
	os.Stdout.Write([]byte{'0' + byte(n/100), '\n'})
}
