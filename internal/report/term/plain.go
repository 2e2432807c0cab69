package term

import (
	"io"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/wording"
)

// Plain is a writer for text that holds words of others: a program's messages, paths, what a
// trace says. They reach the terminal as text and nothing else: of control characters only the
// ends of lines and tabs pass, all else that is invisible or moves the cursor becomes "?".
func Plain(w io.Writer) io.Writer { return &plainWriter{w: w} }

type plainWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

// Write implements io.Writer.
func (p *plainWriter) Write(b []byte) (int, error) {
	in := append(p.rest, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		if r == '\n' || r == '\t' {
			out = append(out, byte(r))
		} else {
			out = utf8.AppendRune(out, wording.Visible(r))
		}
		in = in[n:]
	}
	p.rest = append([]byte(nil), in...)
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
