package gotool

import (
	"fmt"
	"strings"
)

// SplitQuoted splits words as the go command splits the values of GOFLAGS and -gcflags: at white
// space, except in a word that begins with a quote, which extends to the next one. Escapes do not
// exist.
func SplitQuoted(s string) (words []string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return words, nil
		}
		if q := s[0]; q == '\'' || q == '"' {
			word, rest, ok := strings.Cut(s[1:], s[:1])
			if !ok {
				return nil, fmt.Errorf("a quote is not closed in %s", s)
			}
			words, s = append(words, word), rest
			continue
		}
		end := strings.IndexAny(s, " \t\r\n")
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, s[:end]), s[end:]
	}
}
