// kind: test failure
// finding: ready, but port is
// minimum: switches=4

// Package flagbeforevalue stores the flag that says that a value is there before it stores the
// value; both are atomic.
//
// Fewest switches: the reader runs between the two stores. The test's goroutine, which runs
// first, is the reader, and the writer's first store is an interval between two of its own. After
// the failure it waits for the writer: five intervals.
package flagbeforevalue

import "sync/atomic"

// Listener has a port when it is ready.
type Listener struct {
	ready atomic.Bool
	port  atomic.Int32
}

// Listen binds a port.
func (l *Listener) Listen() {
	l.ready.Store(true)
	l.port.Store(8080)
}

// Port is the port, and whether there is one.
func (l *Listener) Port() (int32, bool) {
	if !l.ready.Load() {
		return 0, false
	}
	return l.port.Load(), true
}

// cause: port: l.port.Store(8080) | return l.port.Load(), true
