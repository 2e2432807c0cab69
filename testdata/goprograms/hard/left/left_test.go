package left

import (
	"sync/atomic"
	"testing"
	"time"
)

// A cache, say, with a goroutine that tidies up every millisecond.
func TestTicker(t *testing.T) {
	var ticks atomic.Int64
	go func() {
		for range time.Tick(time.Millisecond) {
			ticks.Add(1)
		}
	}()
	time.Sleep(20 * time.Millisecond)
	if n := ticks.Load(); n > 20 {
		t.Error(n, "ticks")
	}
}

// A goroutine whose first operation is one that never ends.
func TestForever(t *testing.T) {
	go forever()
	time.Sleep(time.Second)
}

func forever() { select {} }
