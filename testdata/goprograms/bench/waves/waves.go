// kind: clean

// Package waves starts a hundred thousand goroutines, a thousand at a time.
package waves

import "sync"

// Count has waves of n goroutines each count themselves, and returns how many there were.
func Count(waves, n int) (count int) {
	var mu sync.Mutex
	for range waves {
		var wg sync.WaitGroup
		for range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				mu.Lock()
				count++
				mu.Unlock()
			}()
		}
		wg.Wait()
	}
	return count
}
