// kind: exit
// finding: os.Exit
// minimum: switches=1

// Package exitingoroutine watches its configuration and ends the whole process when it has
// gone, also when the reason is that the owner is shutting down.
//
// Fewest switches: the watcher must run, after the test's goroutine has removed the
// configuration and before it has stopped the watcher: two intervals.
package exitingoroutine

import (
	"log"
	"sync/atomic"
)

// Watcher watches a configuration.
type Watcher struct {
	present atomic.Bool
	stopped atomic.Bool
	done    chan struct{}
}

// NewWatcher begins to watch.
func NewWatcher() *Watcher {
	w := &Watcher{done: make(chan struct{})}
	w.present.Store(true)
	go w.watch()
	return w
}

func (w *Watcher) watch() {
	defer close(w.done)
	for range 3 {
		if w.stopped.Load() {
			return
		}
		if !w.present.Load() {
			log.Fatal("configuration has gone")
		}
	}
}

// Close removes the configuration and stops the watcher.
func (w *Watcher) Close() {
	w.present.Store(false)
	w.stopped.Store(true)
	<-w.done
}

// cause: stopped: w.stopped.Load() | w.stopped.Store(true)
