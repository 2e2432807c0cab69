package interactive

import (
	"bytes"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"
)

// typist is a terminal on which these chunks were typed, one for each read.
type typist struct {
	tcell.Tty
	chunks [][]byte
}

func (s *typist) Read(b []byte) (int, error) {
	if len(s.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; len(s.chunks[0]) == 0 {
		s.chunks = s.chunks[1:]
	}
	return n, nil
}

// Whatever is typed, and however it is cut: each read gives whole characters, and loses none.
func TestCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chunk := rapid.SliceOfN(rapid.SampledFrom([]byte("aq\x1b[<0\x00\xff\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x80")), 1, 9)
		s := &typist{chunks: rapid.SliceOfN(chunk, 0, 6).Draw(t, "chunks")}
		room := rapid.IntRange(8, 16).Draw(t, "room")
		typed := bytes.Join(s.chunks, nil)
		var want []byte
		for rest := typed; len(rest) > 0 && utf8.FullRune(rest); {
			r, n := utf8.DecodeRune(rest)
			if r != utf8.RuneError || n > 1 {
				want = append(want, rest[:n]...)
			}
			rest = rest[n:]
		}
		var got []byte
		for c := (&characters{Tty: s}); ; {
			b := make([]byte, room)
			n, err := c.Read(b)
			if err != nil {
				break
			}
			if !utf8.Valid(b[:n]) {
				t.Fatalf("%q", b[:n])
			}
			got = append(got, b[:n]...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q of %q, want %q", got, typed, want)
		}
	})
}
