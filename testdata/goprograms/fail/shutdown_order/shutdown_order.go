// kind: deadlock
// finding: handle

// Package shutdownorder closes the connections it knows and waits for their handlers; a
// connection that was accepted but is not yet known is left open, and its handler reads forever
// .
package shutdownorder

import (
	"errors"
	"net"
	"sync"
)

var errClosed = errors.New("listener closed")

type listener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *listener) accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, errClosed
	}
}

// Server echoes its input.
type Server struct {
	listener listener
	served   chan struct{}
	handlers sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
}

// NewServer begins to serve.
func NewServer() *Server {
	s := &Server{
		listener: listener{make(chan net.Conn), make(chan struct{})},
		served:   make(chan struct{}),
		open:     map[net.Conn]bool{},
	}
	go s.serve()
	return s
}

// Dial connects to the server.
func (s *Server) Dial() (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case s.listener.conns <- there:
		return here, nil
	case <-s.listener.done:
		return nil, errClosed
	}
}

func (s *Server) serve() {
	defer close(s.served)
	for {
		c, err := s.listener.accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[c] = true
		s.mu.Unlock()
		s.handlers.Add(1)
		go s.handle(c)
	}
}

func (s *Server) handle(c net.Conn) {
	defer s.handlers.Done()
	b := make([]byte, 16)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

// Close ends the server and waits until it has ended.
func (s *Server) Close() {
	close(s.listener.done)
	s.mu.Lock()
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	<-s.served
	s.handlers.Wait()
}

// cause: map: s.open[c] = true | for c := range s.open
