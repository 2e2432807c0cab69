package sleepassync

import (
	"testing"
	"time"
)

func TestReady(t *testing.T) {
	s := Start(time.Millisecond)
	if !s.Ready(time.Millisecond) {
		t.Error("not ready after the sleep")
	}
	<-s.done
}
