package sendonclosed

import (
	"sync"
	"testing"
)

func TestLogger(t *testing.T) {
	l := NewLogger()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		l.Log("late")
	}()
	l.Log("early")
	l.Close()
	wg.Wait()
	if len(l.got) == 0 || len(l.got) > 2 {
		t.Errorf("got %q", l.got)
	}
}
