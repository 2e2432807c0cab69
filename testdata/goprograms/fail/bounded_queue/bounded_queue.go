// kind: test failure
// finding: queue held
// minimum: switches=2

// Package boundedqueue lets a producer in when the queue is full: the comparison is off by
// one.
//
// Fewest switches: the producer puts three items; the test's goroutine comes before it and
// takes them after.
package boundedqueue

import "sync"

// Queue holds at most limit items.
type Queue struct {
	mu    sync.Mutex
	cond  *sync.Cond
	limit int
	items []int
	most  int
}

// NewQueue makes an empty queue.
func NewQueue(limit int) *Queue {
	q := &Queue{limit: limit}
	q.cond = sync.NewCond(&q.mu)
	return q
}

// Put waits for room and appends.
func (q *Queue) Put(v int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) > q.limit {
		q.cond.Wait()
	}
	q.items = append(q.items, v)
	q.most = max(q.most, len(q.items))
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
	q.cond.Broadcast()
	return v
}

// cause: items: q.items = append(q.items, v) | for len(q.items) == 0
