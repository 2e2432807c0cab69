// kind: clean

// Package loopvariable gives each goroutine its own variable.
package loopvariable

import "sync"

// Squares computes n squares at the same time.
func Squares(n int) []int {
	squares := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			squares[i] = i * i
		}()
	}
	wg.Wait()
	return squares
}
