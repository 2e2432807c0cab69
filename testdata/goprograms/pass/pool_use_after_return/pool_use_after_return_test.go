package pooluseafterreturn

import "testing"

func TestQuery(t *testing.T) {
	p := NewPool()
	done := make(chan int)
	go func() { done <- p.Query(1) }()
	if n := p.Query(2); n != 2 {
		t.Errorf("answer to another request: %d for 2", n)
	}
	if n := <-done; n != 1 {
		t.Errorf("answer to another request: %d for 1", n)
	}
}
