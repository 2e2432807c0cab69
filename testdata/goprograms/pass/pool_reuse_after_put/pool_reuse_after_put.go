// kind: clean

// Package poolreuseafterput copies the bytes before the buffer goes back to the pool.
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
	out := bytes.Clone(b.Bytes())
	f.pool.Put(b)
	return out
}
