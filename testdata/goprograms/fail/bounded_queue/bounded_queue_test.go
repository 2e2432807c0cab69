package boundedqueue

import "testing"

func TestQueue(t *testing.T) {
	q := NewQueue(2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v := range 3 {
			q.Put(v)
		}
	}()
	for want := range 3 {
		if v := q.Take(); v != want {
			t.Errorf("took %d, want %d", v, want)
		}
	}
	<-done
	if q.most > 2 {
		t.Errorf("queue held %d items, limit 2", q.most)
	}
}
