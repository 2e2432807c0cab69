package timerrace

import (
	"testing"
	"time"
)

func TestRenew(t *testing.T) {
	l := NewLease(time.Nanosecond)
	renewed := l.Renew(time.Hour)
	l.mu.Lock()
	overtaken := l.renewed
	l.mu.Unlock()
	if overtaken {
		<-l.expired // the old expiry has run
		l.expired <- struct{}{}
	}
	if renewed && !l.Valid() {
		t.Error("expired after it was renewed")
	}
	l.Stop()
}
