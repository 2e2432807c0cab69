// kind: data race|test failure|panic

// Package loopvariable shares one loop variable with all the goroutines it starts, as loops
// did before Go 1.22.
package loopvariable

import "sync"

// Squares computes n squares at the same time.
func Squares(n int) []int {
	squares := make([]int, n)
	var wg sync.WaitGroup
	var i int
	for i = 0; i < n; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i < n {
				squares[i] = i * i
			}
		}()
	}
	wg.Wait()
	return squares
}

// cause: i: for i = 0; i < n; i++ | squares[i] = i * i
