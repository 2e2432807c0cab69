// kind: data race|test failure|panic

// Package stringtearing replaces a string that another goroutine reads: a reader may get the
// bytes of one with the length of another.
package stringtearing

// Status is a text.
type Status struct {
	text string
}

// Set replaces the text.
func (s *Status) Set(text string) { s.text = text }

// Get returns the text.
func (s *Status) Get() string { return s.text }

// cause: text: s.text = text | return s.text
