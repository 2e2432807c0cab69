package goschedspin

import (
	"sync"
	"testing"
)

func TestTicketLock(t *testing.T) {
	l := new(TicketLock)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.Lock()
			l.Unlock()
		}()
	}
	wg.Wait()
	l.Lock()
	l.Unlock()
	if s, n := l.serving.Load(), l.next.Load(); s != n {
		t.Errorf("serving %d, next ticket %d", s, n)
	}
}
