// kind: clean

// Command rlock_twice_go acquires a lock for reading twice, while another goroutine acquires it for writing.
// Fails: a writer that waits keeps readers out, so all of them can wait for each other.
package main

import (
	"fmt"
	"sync"
)

func main() {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	x := 0
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.RLock()
		x = 1
		mu.RLock()
		mu.RUnlock()
		mu.RUnlock()
	}()
	go func() {
		defer wg.Done()
		for range 100 {
			var own sync.Mutex
			own.Lock()
			own.Unlock()
		}
		mu.Lock()
		mu.Unlock()
	}()
	wg.Wait()
	fmt.Println(x)
}
