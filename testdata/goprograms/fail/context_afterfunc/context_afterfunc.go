// kind: test failure
// finding: pooled connection is closed

// Package contextafterfunc stops the function that closes a connection when its context ends,
// but does not ask whether it has begun, and puts the connection back.
package contextafterfunc

import (
	"context"
	"sync"
	"sync/atomic"
)

// Conn is a connection.
type Conn struct{ closed atomic.Bool }

// Pool has connections that are not in use.
type Pool struct {
	mu   sync.Mutex
	free []*Conn
}

// Do uses the connection while ctx lasts and puts it back. The channel is closed when
// the connection is no longer in use.
func (p *Pool) Do(ctx context.Context, c *Conn) <-chan struct{} {
	unused := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.closed.Store(true)
		close(unused)
	})
	usable := !c.closed.Load()
	if stop() {
		close(unused)
	}
	if usable {
		p.mu.Lock()
		p.free = append(p.free, c)
		p.mu.Unlock()
	}
	return unused
}

// cause: closed: c.closed.Store(true) | usable := !c.closed.Load()
