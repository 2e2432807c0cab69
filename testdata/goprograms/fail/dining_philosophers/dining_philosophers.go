// kind: deadlock
// finding: eat

// Package diningphilosophers lets every philosopher take the left fork first.
package diningphilosophers

import (
	"sync"
	"sync/atomic"
)

// Table has a fork between any two neighbours.
type Table struct {
	forks [4]sync.Mutex
	meals atomic.Int32
}

func (t *Table) eat(seat int) {
	left, right := seat, (seat+1)%len(t.forks)
	t.forks[left].Lock()
	t.forks[right].Lock()
	t.meals.Add(1)
	t.forks[right].Unlock()
	t.forks[left].Unlock()
}

// cause: forks: t.forks[left].Lock() | t.forks[right].Lock()
