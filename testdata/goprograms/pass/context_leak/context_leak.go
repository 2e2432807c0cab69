// kind: clean

// Package contextleak produces numbers until its context is cancelled, also while it waits for
// a reader.
package contextleak

import "context"

// generate sends numbers until ctx ends.
func generate(ctx context.Context, out chan<- int) {
	defer close(out)
	for n := 0; ctx.Err() == nil; n++ {
		select {
		case out <- n:
		case <-ctx.Done():
		}
	}
}

// FirstOver returns the first number over limit.
func FirstOver(limit int) int {
	ctx, cancel := context.WithCancel(context.Background())
	numbers := make(chan int)
	go generate(ctx, numbers)
	defer func() {
		cancel()
		for range numbers { // until the generator has ended
		}
	}()
	for n := range numbers {
		if n > limit {
			return n
		}
	}
	return -1
}
