// kind: clean

// Package frames passes frames of half a megabyte through a pipe, masked byte by byte as a websocket
// client does: eight million accesses to memory, and few operations that order them.
package frames

import "io"

// Send masks frames of n bytes and writes them to w, which it closes.
func Send(w io.WriteCloser, frames, n int) {
	frame := make([]byte, n)
	for i := range frames {
		key := [4]byte{byte(i), 7, 9, 11}
		out := make([]byte, n)
		for j, b := range frame {
			out[j] = b ^ key[j&3]
		}
		if _, err := w.Write(out); err != nil {
			return
		}
	}
	w.Close()
}

// Sum reads r to its end and adds up the bytes.
func Sum(r io.Reader) (sum int) {
	in := make([]byte, 4096)
	for {
		n, err := r.Read(in)
		for _, b := range in[:n] {
			sum += int(b)
		}
		if err != nil {
			return sum
		}
	}
}
