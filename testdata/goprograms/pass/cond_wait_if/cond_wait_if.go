// kind: clean

// Package condwaitif waits as long as the queue is empty.
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
	for len(q.items) == 0 {
		q.cond.Wait()
	}
	v := q.items[0]
	q.items = q.items[1:]
	return v
}
