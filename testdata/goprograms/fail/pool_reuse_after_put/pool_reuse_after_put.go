// kind: data race|test failure|panic

// Package poolreuseafterput gives a buffer back to a sync.Pool and returns its bytes, which
// the next user overwrites.
package poolreuseafterput

import (
	"bytes"
	"sync"
)

// Formatter formats with buffers from a pool.
type Formatter struct {
	pool sync.Pool
}

// NewFormatter makes a formatter.
func NewFormatter() *Formatter {
	return &Formatter{sync.Pool{New: func() any { return new(bytes.Buffer) }}}
}

// Format repeats c.
func (f *Formatter) Format(c byte, n int) []byte {
	b := f.pool.Get().(*bytes.Buffer)
	b.Reset()
	for range n {
		b.WriteByte(c)
	}
	f.pool.Put(b)
	return b.Bytes()
}

// cause: pool: f.pool.Put(b) | f.pool.Get()
