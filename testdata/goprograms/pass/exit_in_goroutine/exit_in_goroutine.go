// kind: clean

// Package exitingoroutine watches its configuration and reports to its owner when it has gone.
package exitingoroutine

import (
	"errors"
	"sync/atomic"
)

// Watcher watches a configuration.
type Watcher struct {
	present atomic.Bool
	stopped atomic.Bool
	done    chan struct{}
	err     error
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
			w.err = errors.New("configuration has gone")
			return
		}
	}
}

// Close removes the configuration and stops the watcher.
func (w *Watcher) Close() {
	w.present.Store(false)
	w.stopped.Store(true)
	<-w.done
}
