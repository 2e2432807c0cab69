// kind: deadlock
// finding: swap

// Package lockorderthree locks neighbouring shards of a ring, each with its successor, so
// three swaps can wait for each other in a circle.
package lockorderthree

import "sync"

type shard struct {
	mu    sync.Mutex
	value int
}

// Ring is three shards in a circle.
type Ring [3]shard

// swap exchanges shard i's value with its successor's.
func (r *Ring) swap(i int) {
	j := (i + 1) % len(r)
	first, second := i, j
	r[first].mu.Lock()
	defer r[first].mu.Unlock()
	r[second].mu.Lock()
	defer r[second].mu.Unlock()
	r[i].value, r[j].value = r[j].value, r[i].value
}

// Sum adds up the values.
func (r *Ring) Sum() (sum int) {
	for i := range r {
		sum += r[i].value
	}
	return sum
}

// cause: mu: r[first].mu.Lock() | r[second].mu.Lock()
