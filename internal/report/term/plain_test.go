package term

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc":                   "a\tb\nc",
		"\x1b]0;x\x07\x1b[2J\r":     "?]0;x??[2J?",
		"é→\u009b31m\u202egpj\x7f":  "é→?31m?gpj?",
		"\xff\xfe!":                 "??!",
		"a\u2028b\u200bc\ufeff\x00": "a?b?c??",
	} {
		var whole, bytewise strings.Builder
		if n, err := Plain(&whole).Write([]byte(in)); n != len(in) || err != nil {
			t.Errorf("%q: %d bytes, %v", in, n, err)
		}
		w := Plain(&bytewise)
		for i := range len(in) {
			if _, err := w.Write([]byte{in[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if whole.String() != want || bytewise.String() != want {
			t.Errorf("%q: %q and %q, want %q", in, &whole, &bytewise, want)
		}
	}
}
