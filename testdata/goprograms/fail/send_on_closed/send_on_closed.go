// kind: panic|data race

// Package sendonclosed logs into a channel unless the logger is closed; the logger can be
// closed between the look and the send.
package sendonclosed

import "sync/atomic"

// Logger writes lines in the background.
type Logger struct {
	closed atomic.Bool
	lines  chan string
	done   chan struct{}
	got    []string
}

// NewLogger begins to write.
func NewLogger() *Logger {
	l := &Logger{lines: make(chan string, 8), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for s := range l.lines {
			l.got = append(l.got, s)
		}
	}()
	return l
}

// Log writes a line, if the logger is open.
func (l *Logger) Log(s string) {
	if !l.closed.Load() {
		l.lines <- s
	}
}

// Close writes the remaining entries.
func (l *Logger) Close() {
	l.closed.Store(true)
	close(l.lines)
	<-l.done
}

// cause: closed: l.closed.Load() | l.closed.Store(true)
