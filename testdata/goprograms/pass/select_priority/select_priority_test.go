package selectpriority

import (
	"sync/atomic"
	"testing"
)

func TestStop(t *testing.T) {
	w := NewWorker()
	var after atomic.Bool
	w.jobs <- func() { after.Store(true) }
	close(w.stop)
	go w.Run()
	<-w.done
	if after.Load() {
		t.Error("job ran after the stop")
	}
}
