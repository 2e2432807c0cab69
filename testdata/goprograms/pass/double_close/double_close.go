// kind: clean

// Package doubleclose closes its channel once, however often Close is called.
package doubleclose

import "sync"

// Server can be stopped.
type Server struct {
	stopped chan struct{}
	once    sync.Once
}

// Close stops the server. It may be called more than once.
func (s *Server) Close() {
	s.once.Do(func() { close(s.stopped) })
}
