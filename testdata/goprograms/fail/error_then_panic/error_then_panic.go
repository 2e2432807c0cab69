// kind: panic
// finding: nil pointer
// minimum: switches=2

// Package errorthenpanic has a test that calls t.Error when a connection is refused, and then uses
// the connection that it did not get. Under go test the panic is what ends it.
//
// Fewest switches: the test's goroutine starts the one that shuts the server down, which must run
// before the test connects.
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

// cause: down: s.down = true | if s.down
