// kind: panic
// finding: close of closed channel

// Package doubleclose closes its channel unless it is closed already; two callers of Close can
// both find it open.
//
// Both must look before one closes. The minimum of switches depends on which is second: the
// test's goroutine (two), or the other (three). They are two findings where the compiler puts
// a copy of Close into the test.
package doubleclose

// Server can be stopped.
type Server struct {
	stopped chan struct{}
}

// Close stops the server. It may be called more than once.
func (s *Server) Close() {
	select {
	case <-s.stopped:
	default:
		close(s.stopped)
	}
}

// cause: : case <-s.stopped | close(s.stopped)
