// kind: clean

// Package twothousand runs two thousand goroutines that wait for one another: each passes a
// number on to its successor.
package twothousand

import "sync"

// Chain sends a number through n goroutines, each of which adds 1, and returns what comes out.
func Chain(n int) int {
	var wg sync.WaitGroup
	first := make(chan int)
	in := first
	for range n {
		out := make(chan int)
		wg.Add(1)
		go func(in <-chan int) {
			defer wg.Done()
			out <- <-in + 1
		}(in)
		in = out
	}
	first <- 0
	v := <-in
	wg.Wait()
	return v
}
