package contextafterfunc

import (
	"context"
	"testing"
)

func TestPool(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := new(Pool)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel()
	}()
	unused := p.Do(ctx, new(Conn))
	<-done
	<-unused
	for _, c := range p.free {
		if c.closed.Load() {
			t.Error("pooled connection is closed")
		}
	}
}
