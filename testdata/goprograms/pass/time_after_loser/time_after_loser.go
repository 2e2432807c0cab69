// kind: clean

// Package timeafterloser gives a lookup up after a time-out; its answer has room in the
// channel, and it is cancelled and waited for.
package timeafterloser

import (
	"context"
	"errors"
	"time"
)

var errTimeout = errors.New("lookup timed out")

func lookup(ctx context.Context, name string, answer chan<- int, delay time.Duration) {
	select {
	case <-time.After(delay):
		answer <- len(name)
	case <-ctx.Done():
	}
}

// Resolve looks a name up, for at most timeout.
func Resolve(name string, delay, timeout time.Duration) (int, error) {
	answer, done := make(chan int, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		lookup(ctx, name, answer, delay)
	}()
	defer func() {
		cancel()
		<-done
	}()
	select {
	case n := <-answer:
		return n, nil
	case <-time.After(timeout):
		return 0, errTimeout
	}
}
