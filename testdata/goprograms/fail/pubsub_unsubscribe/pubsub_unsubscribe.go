// kind: deadlock
// finding: Publish

// Package pubsubunsubscribe sends to its subscribers with the lock held that Unsubscribe
// needs: a subscriber that leaves reads no more, and Publish waits for it.
package pubsubunsubscribe

import (
	"slices"
	"sync"
)

type subscriber struct {
	ch   chan string
	left chan struct{}
}

// Topic has subscribers.
type Topic struct {
	mu   sync.Mutex
	subs []*subscriber
}

// Subscribe adds a subscriber.
func (t *Topic) Subscribe() *subscriber {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &subscriber{make(chan string), make(chan struct{})}
	t.subs = append(t.subs, s)
	return s
}

// Unsubscribe takes a subscriber out.
func (t *Topic) Unsubscribe(s *subscriber) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.subs = slices.DeleteFunc(t.subs, func(x *subscriber) bool { return x == s })
	close(s.left)
}

// Publish sends a message to all subscribers.
func (t *Topic) Publish(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.subs {
		s.ch <- message
	}
}

// cause: mu: t.mu.Lock() | s.ch <- message
