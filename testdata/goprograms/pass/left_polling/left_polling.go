// kind: clean

// Package leftpolling polls for a while longer after it is stopped.
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

// Close lets it poll 1,500 more times.
func (w *Watcher) Close() { w.stopped.Store(true) }
