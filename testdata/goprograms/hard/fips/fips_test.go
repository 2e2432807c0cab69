//go:debug fips140=on
package fips

import (
	"crypto/fips140"
	"crypto/rand"
	"testing"
)

// How many values are sent is random.
func TestFIPS(t *testing.T) {
	if !fips140.Enabled() {
		t.Skip("FIPS mode is off")
	}
	c := make(chan byte)
	go func() {
		var b [16]byte
		rand.Read(b[:])
		for _, x := range b {
			if x&1 == 0 {
				c <- x
			}
		}
		close(c)
	}()
	for range c {
	}
}
