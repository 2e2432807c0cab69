// kind: goroutine leak
// finding: lookup

// Package timeafterloser gives a lookup up after a time-out; the lookup then waits for a
// reader of its answer forever.
package timeafterloser

import (
	"errors"
	"time"
)

var errTimeout = errors.New("lookup timed out")

func lookup(name string, answer chan<- int, delay time.Duration) {
	time.Sleep(delay)
	answer <- len(name)
}

// Resolve looks a name up, for at most timeout.
func Resolve(name string, delay, timeout time.Duration) (int, error) {
	answer := make(chan int)
	go lookup(name, answer, delay)
	select {
	case n := <-answer:
		return n, nil
	case <-time.After(timeout):
		return 0, errTimeout
	}
}

// cause: : answer <- len(name) | select {
