// kind: clean

// Command once_go has two goroutines that call a sync.Once.
// Not decided: sync.Once is not modelled.
package main

import (
	"fmt"
	"sync"
)

func main() {
	var once sync.Once
	var wg sync.WaitGroup
	v := 0
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			once.Do(func() { v = 1 })
		}()
	}
	wg.Wait()
	fmt.Println(v)
}
