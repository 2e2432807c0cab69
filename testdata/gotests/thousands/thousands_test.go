// Package thousands has twenty thousand goroutines at one time, each of which locks a mutex once.
package thousands

import (
	"sync"
	"testing"
)

const goroutines = 20_000

func count(t *testing.T, careless int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	start := make(chan bool)
	for i := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			if i == careless {
				n++
				return
			}
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	close(start)
	wg.Wait()
	if n != goroutines {
		t.Error(n)
	}
}

func TestCount(t *testing.T) { count(t, -1) }

// One of them does not lock.
func TestCountWrong(t *testing.T) { count(t, 17_777) }
