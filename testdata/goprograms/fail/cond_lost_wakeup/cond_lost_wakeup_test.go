package condlostwakeup

import "testing"

func TestLatch(t *testing.T) {
	l := NewLatch()
	go l.Open()
	if !l.Wait() {
		t.Error("closed after Wait")
	}
}
