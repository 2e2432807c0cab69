package waitgroupreuse

import "testing"

func TestRounds(t *testing.T) {
	r := new(Rounds)
	r.Begin()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Wait()
	}()
	r.End()
	r.Begin()
	r.End()
	<-done
}
