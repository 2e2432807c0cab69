// kind: clean

// Package tickerneverstopped ends its heartbeats by closing a channel, which no goroutine can miss.
package tickerneverstopped

import "time"

// Session sends heartbeats.
type Session struct {
	beats chan int
	quit  chan struct{}
	done  chan struct{}
}

// NewSession begins to send.
func NewSession() *Session {
	s := &Session{beats: make(chan int), quit: make(chan struct{})}
	s.done = make(chan struct{})
	go s.beat()
	return s
}

func (s *Session) beat() {
	defer close(s.done)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ticker.C:
		case <-s.quit:
			return
		}
		select {
		case s.beats <- n:
		case <-s.quit:
			return
		}
	}
}

// Close ends the session.
func (s *Session) Close() {
	close(s.quit)
	<-s.done
}
