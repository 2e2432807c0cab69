package ratelimiter

import (
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	l := &Limiter{interval: time.Millisecond}
	slots := make(chan time.Time)
	go func() { slots <- l.Wait() }()
	a := l.Wait()
	b := <-slots
	if d := b.Sub(a).Abs(); d < l.interval {
		t.Errorf("same slot: %v apart", d)
	}
}
