// kind: data race|fatal error

// Package mapreadwrite reads a map without the lock that its writers hold.
package mapreadwrite

import "sync"

// Sessions is the users by token.
type Sessions struct {
	mu    sync.RWMutex
	users map[string]string
}

// Login adds a session.
func (s *Sessions) Login(token, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[token] = user
}

// User is the session's user.
func (s *Sessions) User(token string) string {
	return s.users[token]
}

// cause: map: s.users[token] = user | return s.users[token]
