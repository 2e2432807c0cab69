// Package turns has goroutines that take turns very often, and count them where no operation shows it: no livelock.
package turns

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTurns(t *testing.T) {
	var turn atomic.Int32
	var wg sync.WaitGroup
	for me := range int32(2) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200_000 {
				for turn.Load() != me {
					runtime.Gosched()
				}
				turn.Store(1 - me)
			}
		}()
	}
	wg.Wait()
}
