package closedchannelzero

import (
	"sync/atomic"
	"testing"
)

func TestWorker(t *testing.T) {
	w := NewWorker()
	var ran atomic.Bool
	w.jobs <- func() { ran.Store(true) }
	w.Close()
}
