package timerdrain

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	r := NewReader(time.Nanosecond)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.items <- 5
	}()
	<-done
	if v, ok := r.Next(); ok && v != 5 {
		t.Errorf("item is %d", v)
	}
}
