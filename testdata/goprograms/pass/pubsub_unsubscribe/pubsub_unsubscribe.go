// kind: clean

// Package pubsubunsubscribe sends to its subscribers with the lock held, unless they have
// left, which they say before they take the lock.
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
	close(s.left)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.subs = slices.DeleteFunc(t.subs, func(x *subscriber) bool { return x == s })
}

// Publish sends a message to all subscribers.
func (t *Topic) Publish(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.subs {
		select {
		case s.ch <- message:
		case <-s.left:
		}
	}
}
