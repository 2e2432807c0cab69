// kind: clean

// Package missingclose lets the last producer close the channel; the number at work is
// decremented and read in one step.
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
	if f.active.Add(-1) == 0 {
		close(f.ch)
	}
}

// Collect sums up what the producers send.
func (f *Feed) Collect() (sum int) {
	for v := range f.ch {
		sum += v
	}
	return sum
}
