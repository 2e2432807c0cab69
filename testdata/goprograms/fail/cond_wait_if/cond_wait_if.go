// kind: panic
// finding: index out of range
// minimum: switches=4

// Package condwaitif looks once whether the queue is empty and waits once; an item can be gone
// again when the waiter has the lock.
//
// Fewest switches: a taker waits before the first item is there, the test's goroutine puts it,
// the other taker takes it, the first one goes on; the test's goroutine comes before all of
// them: five intervals.
package condwaitif

import "sync"

// Queue is a queue without limit.
type Queue struct {
	mu    sync.Mutex
	cond  *sync.Cond
	items []int
}

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	q := new(Queue)
	q.cond = sync.NewCond(&q.mu)
	return q
}

// Put appends an item.
func (q *Queue) Put(v int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, v)
	q.cond.Broadcast()
}

// Take waits for an item.
func (q *Queue) Take() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		q.cond.Wait()
	}
	v := q.items[0]
	q.items = q.items[1:]
	return v
}

// cause: items: v := q.items[0] | q.items = q.items[1:]
