package pipelinecancelleak

import "testing"

func TestPipeline(t *testing.T) {
	if v := NewPipeline(2).First(); v != 1 {
		t.Errorf("first square is %d", v)
	}
}
