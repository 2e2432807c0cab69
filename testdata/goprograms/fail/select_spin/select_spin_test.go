package selectspin

import (
	"sync"
	"testing"
)

func TestGate(t *testing.T) {
	g := &Gate{open: make(chan struct{})}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			g.Arrive()
		}()
	}
	if n := g.Await(); n < 1 {
		t.Errorf("%d guests", n)
	}
	wg.Wait()
}
