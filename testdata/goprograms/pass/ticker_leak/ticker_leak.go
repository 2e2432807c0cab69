// kind: clean

// Package tickerleak flushes at every tick until it is stopped; Close waits for its end.
package tickerleak

import (
	"sync/atomic"
	"time"
)

// Buffer is flushed at every tick.
type Buffer struct {
	ticker  *time.Ticker
	flushes atomic.Int64
	quit    chan struct{}
	done    chan struct{}
}

// NewBuffer begins to flush.
func NewBuffer() *Buffer {
	b := &Buffer{ticker: time.NewTicker(time.Millisecond)}
	b.quit, b.done = make(chan struct{}), make(chan struct{})
	go b.flushLoop()
	return b
}

func (b *Buffer) flushLoop() {
	defer close(b.done)
	for {
		select {
		case <-b.ticker.C:
			b.flushes.Add(1)
		case <-b.quit:
			return
		}
	}
}

// Close stops flushing.
func (b *Buffer) Close() {
	b.ticker.Stop()
	close(b.quit)
	<-b.done
}
