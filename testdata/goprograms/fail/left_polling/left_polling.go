// kind: goroutine leak
// finding: poll

// Package leftpolling polls until it is stopped, which Close forgets.
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
	for !w.stopped.Load() {
		w.looks.Add(1)
		time.Sleep(time.Nanosecond)
	}
}

// Close stops polling.
func (w *Watcher) Close() {}

// cause: none
