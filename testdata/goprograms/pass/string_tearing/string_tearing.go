// kind: clean

// Package stringtearing replaces a string that another goroutine reads by way of an atomic
// value.
package stringtearing

import "sync/atomic"

// Status is a text.
type Status struct {
	text atomic.Value // string
}

// Set replaces the text.
func (s *Status) Set(text string) { s.text.Store(text) }

// Get returns the text.
func (s *Status) Get() string { return s.text.Load().(string) }
