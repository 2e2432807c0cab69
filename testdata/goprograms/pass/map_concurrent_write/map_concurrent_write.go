// kind: clean

// Package mapconcurrentwrite writes a map from two goroutines under a lock.
package mapconcurrentwrite

import "sync"

// Index is the words by length.
type Index struct {
	mu    sync.Mutex
	words map[int]string
}

// Add adds words.
func (x *Index) Add(words ...string) {
	for _, w := range words {
		x.mu.Lock()
		x.words[len(w)] = w
		x.mu.Unlock()
	}
}
