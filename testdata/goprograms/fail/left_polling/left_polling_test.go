package leftpolling

import (
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	w := Watch()
	for w.looks.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	w.Close()
}
