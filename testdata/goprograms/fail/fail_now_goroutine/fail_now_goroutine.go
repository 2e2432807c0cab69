// kind: test failure
// finding: version is

// Package failnowgoroutine ends a test by Fatalf in a goroutine: that ends the goroutine only,
// and whoever waits for its result waits forever. heddle stops at the failure itself.
package failnowgoroutine

import "sync/atomic"

// Server has a version that goes up while it is upgraded.
type Server struct {
	version atomic.Int32
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// Probe asks the server in the background and returns its version.
func Probe(t fataler, s *Server) int32 {
	result := make(chan int32)
	go func() {
		v := s.version.Load()
		if v != 1 {
			t.Fatalf("version is %d, want 1", v)
		}
		result <- v
	}()
	return <-result
}

// cause: version: v := s.version.Load()
