// kind: deadlock
// finding: Next

// Package timerdrain drains a timer's channel whenever Stop says that the timer has expired,
// also if its value has been received already.
package timerdrain

import "time"

// Reader waits for items, but not forever.
type Reader struct {
	items chan int
	timer *time.Timer
}

// NewReader makes a reader that waits for d.
func NewReader(d time.Duration) *Reader {
	return &Reader{make(chan int, 1), time.NewTimer(d)}
}

// Next waits for an item.
func (r *Reader) Next() (v int, ok bool) {
	select {
	case v = <-r.items:
		ok = true
	case <-r.timer.C:
	}
	if !r.timer.Stop() {
		<-r.timer.C
	}
	return v, ok
}

// cause: : if !r.timer.Stop() | case v = <-r.items
