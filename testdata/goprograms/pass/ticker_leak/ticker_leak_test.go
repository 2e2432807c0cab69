package tickerleak

import (
	"testing"
	"time"
)

func TestFlush(t *testing.T) {
	b := NewBuffer()
	for b.flushes.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	b.Close()
}
