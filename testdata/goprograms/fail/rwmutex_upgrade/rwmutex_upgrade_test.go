package rwmutexupgrade

import "testing"

func TestIntern(t *testing.T) {
	table := &Table{ids: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		table.Add("x")
	}()
	if id := table.Intern("x"); id != 0 {
		t.Errorf("x is %d", id)
	}
	<-done
}
