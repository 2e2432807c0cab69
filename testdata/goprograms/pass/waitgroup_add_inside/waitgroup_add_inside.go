// kind: clean

// Package waitgroupaddinside adds to the WaitGroup before the goroutine is created.
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
		wg.Add(1)
		go func() {
			defer wg.Done()
			sum.Add(f())
		}()
	}
	wg.Wait()
	return sum.Load()
}
