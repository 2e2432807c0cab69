// kind: test failure|data race|panic

// Package waitgroupaddinside adds to the WaitGroup inside the goroutine, so Wait can return
// before the goroutines have begun.
package waitgroupaddinside

import (
	"sync"
	"sync/atomic"
)

// Sum adds up what the functions return, at the same time.
func Sum(functions ...func() int64) int64 {
	var wg sync.WaitGroup
	var sum atomic.Int64
	for _, f := range functions {
		go func() {
			wg.Add(1)
			defer wg.Done()
			sum.Add(f())
		}()
	}
	wg.Wait()
	return sum.Load()
}

// cause: wg: wg.Wait() | wg.Add(1)
