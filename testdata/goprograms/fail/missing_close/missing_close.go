// kind: deadlock
// finding: Collect

// Package missingclose lets the last producer close the channel, where "last" is found out
// before it is made so: two producers that both see two at work leave the channel open, and
// the range over it never ends.
package missingclose

import "sync/atomic"

// Feed is a channel filled by several producers.
type Feed struct {
	ch     chan int
	active atomic.Int32
}

// NewFeed makes a feed of n producers.
func NewFeed(n int) *Feed {
	f := &Feed{ch: make(chan int, 10)}
	f.active.Store(int32(n))
	return f
}

func (f *Feed) produce(v int) {
	f.ch <- v
	if f.active.Load() == 1 {
		close(f.ch)
	}
	f.active.Add(-1)
}

// Collect sums up what the producers send.
func (f *Feed) Collect() (sum int) {
	for v := range f.ch {
		sum += v
	}
	return sum
}

// cause: active: f.active.Load() == 1 | f.active.Add(-1)
