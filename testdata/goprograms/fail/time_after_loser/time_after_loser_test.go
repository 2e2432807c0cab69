package timeafterloser

import (
	"testing"
	"time"
)

func TestResolve(t *testing.T) {
	n, err := Resolve("host", time.Millisecond, time.Millisecond)
	if n != 4 && err != errTimeout {
		t.Errorf("got %d, %v", n, err)
	}
}
