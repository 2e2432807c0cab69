// kind: goroutine leak
// finding: generate

// Package contextleak produces numbers until its context is cancelled, but looks at the
// context only between two sends.
package contextleak

import "context"

// generate sends numbers until ctx ends.
func generate(ctx context.Context, out chan<- int) {
	defer close(out)
	for n := 0; ctx.Err() == nil; n++ {
		out <- n
	}
}

// FirstOver returns the first number over limit.
func FirstOver(limit int) int {
	ctx, cancel := context.WithCancel(context.Background())
	numbers := make(chan int)
	go generate(ctx, numbers)
	for n := range numbers {
		if n > limit {
			cancel()
			return n
		}
	}
	cancel()
	return -1
}

// cause: : out <- n | for n := range numbers
