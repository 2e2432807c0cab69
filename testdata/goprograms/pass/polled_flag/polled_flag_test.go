package polledflag

import "testing"

func TestJob(t *testing.T) {
	j := new(Job)
	go j.Run()
	if r := j.Wait(); r != 42 {
		t.Errorf("the job ended with %d", r)
	}
}
