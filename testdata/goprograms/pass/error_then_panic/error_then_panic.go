// kind: clean

// Package errorthenpanic has a test that uses its connection only if the server accepted it.
package errorthenpanic

import "sync"

// Server accepts connections until it is shut down.
type Server struct {
	mu   sync.Mutex
	down bool
}

// Conn is a connection.
type Conn struct{ sent int }

// Shutdown makes the server refuse new connections.
func (s *Server) Shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
}

// Dial returns a new connection, nil if the server refuses it.
func (s *Server) Dial() *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil
	}
	return new(Conn)
}

// Send sends one message.
func (c *Conn) Send() { c.sent++ }
