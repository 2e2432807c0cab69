// heddle: kind=panic text="close of closed channel" switches=2

// Package doubleclose closes its channel unless it is closed already; two callers of Close can
// both find it open.
//
// Fewest switches: both must look before one closes. The test's goroutine runs first, because
// it creates the other; if it looks and the other one looks and closes, it panics as soon as
// it goes on: three intervals. With two, the looks of one side come after everything the other
// does.
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
