// kind: clean

// Package rounds lets four goroutines take one mutex five times each.
package rounds

import "sync"

// Count lets each of n goroutines add 1 to a counter in every round, and returns the counter.
func Count(n, rounds int) int {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		count int
	)
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range rounds {
				mu.Lock()
				count++
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return count
}
