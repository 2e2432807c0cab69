// kind: clean

// Package failnowgoroutine sends the result in any case and leaves the judgement to the waiter
// for it.
package failnowgoroutine

import "sync/atomic"

// Server has a version that goes up while it is upgraded.
type Server struct {
	version atomic.Int32
}

// Probe asks the server in the background and returns its version.
func Probe(s *Server) int32 {
	result := make(chan int32)
	go func() { result <- s.version.Load() }()
	return <-result
}
