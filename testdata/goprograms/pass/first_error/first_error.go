// kind: clean

// Package firsterror keeps the first error of a group.
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
			if g.err == nil {
				g.err = err
			}
			g.cancel()
		}
	}()
}

// Wait waits for all and returns the first error.
func (g *Group) Wait() error {
	g.wg.Wait()
	return g.err
}
