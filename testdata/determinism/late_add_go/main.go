// kind: clean

// Command late_add_go calls Add in the goroutines, where Wait need not see it.
// Fails: main may end first.
package main

import (
	"fmt"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	out := make([]int, 2)
	for i := range out {
		go func() {
			wg.Add(1)
			out[i] = i
			wg.Done()
		}()
	}
	wg.Wait()
	fmt.Println("done")
}
