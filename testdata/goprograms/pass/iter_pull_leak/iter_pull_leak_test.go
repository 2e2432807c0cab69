package iterpullleak

import (
	"sync/atomic"
	"testing"
)

func TestEqual(t *testing.T) {
	a := &Tree{left: &Tree{value: 1}, value: 2}
	b := &Tree{value: 1, right: &Tree{value: 2}}
	var giveUp atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		giveUp.Store(true)
	}()
	if equal, ok := Equal(a, b, &giveUp); ok && !equal {
		t.Error("trees differ")
	}
	<-done
}
