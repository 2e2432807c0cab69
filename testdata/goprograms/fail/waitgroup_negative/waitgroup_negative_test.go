package waitgroupnegative

import "testing"

func TestJob(t *testing.T) {
	j := NewJob()
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Run()
	}()
	j.Cancel()
	if s := j.Wait(); s == 0 {
		t.Error("neither ended nor cancelled")
	}
	<-done
}
