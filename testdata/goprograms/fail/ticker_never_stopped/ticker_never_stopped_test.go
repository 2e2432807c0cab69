package tickerneverstopped

import (
	"testing"
	"time"
)

func TestSession(t *testing.T) {
	s := NewSession()
	if n := <-s.beats; n != 1 {
		t.Errorf("first beat is %d", n)
	}
	time.Sleep(time.Millisecond)
	s.Close()
}
