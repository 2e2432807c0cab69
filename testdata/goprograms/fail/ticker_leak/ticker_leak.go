// kind: goroutine leak
// finding: flushLoop

// Package tickerleak flushes at every tick until the channel of the ticker is closed, which
// Stop does not do.
package tickerleak

import (
	"sync/atomic"
	"time"
)

// Buffer is flushed at every tick.
type Buffer struct {
	ticker  *time.Ticker
	flushes atomic.Int64
}

// NewBuffer begins to flush.
func NewBuffer() *Buffer {
	b := &Buffer{ticker: time.NewTicker(time.Millisecond)}
	go b.flushLoop()
	return b
}

func (b *Buffer) flushLoop() {
	for range b.ticker.C {
		b.flushes.Add(1)
	}
}

// Close stops flushing.
func (b *Buffer) Close() {
	b.ticker.Stop()
}

// cause: none
