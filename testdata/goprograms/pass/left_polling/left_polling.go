// kind: clean

// Package leftpolling polls for a while longer when it is told to stop.
package leftpolling

import (
	"sync/atomic"
	"time"
)

// Watcher counts how often it has looked.
type Watcher struct {
	looks   atomic.Int64
	stopped atomic.Bool
}

// Watch begins to poll.
func Watch() *Watcher {
	w := &Watcher{}
	go w.poll()
	return w
}

func (w *Watcher) poll() {
	for left := 1500; left > 0; left-- {
		if !w.stopped.Load() {
			left = 1500
		}
		w.looks.Add(1)
		time.Sleep(time.Nanosecond)
	}
}

// Close has it look 1,500 times more, and then no more.
func (w *Watcher) Close() { w.stopped.Store(true) }
