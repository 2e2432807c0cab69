// kind: clean

// Package flagbeforevalue stores the value before the flag.
package flagbeforevalue

import "sync/atomic"

// Listener has a port when it is ready.
type Listener struct {
	ready atomic.Bool
	port  atomic.Int32
}

// Listen binds a port.
func (l *Listener) Listen() {
	l.port.Store(8080)
	l.ready.Store(true)
}

// Port is the port, and whether there is one.
func (l *Listener) Port() (int32, bool) {
	if !l.ready.Load() {
		return 0, false
	}
	return l.port.Load(), true
}
