// kind: data race

// Package plainrace counts the bytes of a copy in a plain field that another goroutine reads
// for its progress display; nothing visible goes wrong.
package plainrace

import "bytes"

// Copier copies and can be asked how far it is.
type Copier struct {
	copied int64
}

// Copy appends src to dst in pieces.
func (c *Copier) Copy(dst *bytes.Buffer, src []byte) {
	for len(src) > 0 {
		n := min(4, len(src))
		dst.Write(src[:n])
		src = src[n:]
		c.copied += int64(n)
	}
}

// Progress is the number of bytes copied so far.
func (c *Copier) Progress() int64 { return c.copied }

// cause: copied: c.copied += | return c.copied
