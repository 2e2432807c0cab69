// kind: goroutine leak
// finding: beat

// Package tickerneverstopped ends its heartbeats by a message that is dropped if the goroutine
// is not waiting for it at that moment; goroutine and ticker then stay.
package tickerneverstopped

import "time"

// Session sends heartbeats.
type Session struct {
	beats chan int
	quit  chan struct{}
}

// NewSession begins to send.
func NewSession() *Session {
	s := &Session{beats: make(chan int), quit: make(chan struct{})}
	go s.beat()
	return s
}

func (s *Session) beat() {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n := 1; ; n++ {
		<-ticker.C
		select {
		case s.beats <- n:
		case <-s.quit:
			return
		}
	}
}

// Close ends the session.
func (s *Session) Close() {
	select {
	case s.quit <- struct{}{}:
	default: // it has ended already
	}
}

// cause: : select {
