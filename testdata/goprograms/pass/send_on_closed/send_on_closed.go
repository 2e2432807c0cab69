// kind: clean

// Package sendonclosed logs into a channel that is closed under the lock that senders hold.
package sendonclosed

import "sync"

// Logger writes lines in the background.
type Logger struct {
	mu     sync.RWMutex
	closed bool
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
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.closed {
		l.lines <- s
	}
}

// Close writes the remaining entries.
func (l *Logger) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	close(l.lines)
	<-l.done
}
