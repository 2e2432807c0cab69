package interactive

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// characters is a terminal whose input is whole characters of UTF-8. On any other byte, tcell's decoder makes no progress and never
// gives up; such bytes are left out.
type characters struct {
	tcell.Tty
	rest []byte // of the last read: the beginning of a character, or what the caller had no room for
}

// Read implements io.Reader. It may return nothing, without an error, before the rest of a character comes.
func (c *characters) Read(b []byte) (int, error) {
	in := make([]byte, max(1, len(b)-len(c.rest)))
	n, err := c.Tty.Read(in)
	if err != nil {
		return 0, err
	}
	in = append(c.rest, in[:n]...)
	n = 0
	for len(in) > 0 && utf8.FullRune(in) {
		r, size := utf8.DecodeRune(in)
		if r == utf8.RuneError && size == 1 {
			in = in[1:]
			continue
		}
		if n+size > len(b) {
			break
		}
		n += copy(b[n:], in[:size])
		in = in[size:]
	}
	c.rest = append([]byte(nil), in...)
	return n, nil
}
