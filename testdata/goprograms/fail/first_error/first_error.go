// kind: test failure
// finding: cause was overwritten
// minimum: switches=3

// Package firsterror keeps the last error of a group, so the cancellation that a failure
// brings about hides the failure.
//
// Fewest switches: both members must run, with the test's goroutine before and after them:
// four intervals.
package firsterror

import (
	"context"
	"sync"
)

// Group runs functions and cancels the rest when one fails.
type Group struct {
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error
	cancel context.CancelFunc
}

// Go runs f.
func (g *Group) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.err = err
			g.cancel()
		}
	}()
}

// Wait waits for all and returns the first error.
func (g *Group) Wait() error {
	g.wg.Wait()
	return g.err
}

// cause: : g.cancel() | err := f()
