package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// word is a part of a line: text, "quoted text", key=text or key="quoted text".
type word struct {
	key    string // before the =, empty if none exists
	text   string // unquoted
	quoted bool
}

func (w word) String() string {
	s := w.text
	if w.quoted {
		s = strconv.Quote(s)
	}
	if w.key != "" {
		s = w.key + "=" + s
	}
	return s
}

// splitWords splits a line at its spaces. A # that begins a word ends the line.
func splitWords(s string) ([]word, error) {
	const space = " \t\r\n"
	var words []word
	for {
		s = strings.TrimLeft(s, space)
		if s == "" || s[0] == '#' {
			return words, nil
		}
		var w word
		end := strings.IndexAny(s, space+`"=`)
		if end > 0 && s[end] == '=' {
			w.key, s = s[:end], s[end+1:]
		}
		if strings.HasPrefix(s, `"`) {
			q, err := strconv.QuotedPrefix(s)
			if err == nil {
				w.text, err = strconv.Unquote(q)
			}
			if err != nil {
				return nil, fmt.Errorf("a quote is not closed, or what is in it is not a Go string: %.40s", strings.TrimRight(s, space))
			}
			w.quoted, s = true, s[len(q):]
			if s != "" && !strings.ContainsRune(space, rune(s[0])) {
				return nil, fmt.Errorf("no space after %.40q", w.text)
			}
		} else {
			end := strings.IndexAny(s, space)
			if end < 0 {
				end = len(s)
			}
			w.text, s = s[:end], s[end:]
		}
		words = append(words, w)
	}
}

// textLine parses a line word by word. It keeps its first error; its results after that are
// meaningless.
type textLine struct {
	words []word
	err   error
}

func (l *textLine) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

func (l *textLine) more() bool { return l.err == nil && len(l.words) > 0 }

// done returns the first error, or one about leftover words.
func (l *textLine) done() error {
	if l.more() {
		l.fail("%.40q is too much", l.words[0].String())
	}
	return l.err
}

func (l *textLine) next(what string, quoted bool) string {
	if !l.more() {
		l.fail("the %s is missing", what)
		return ""
	}
	w := l.words[0]
	l.words = l.words[1:]
	switch {
	case w.key != "":
		l.fail("the %s is missing before %.40q", what, w.String())
	case quoted && !w.quoted:
		l.fail("the %s must be in quotes: %.40q", what, w.text)
	case !quoted && w.quoted:
		l.fail("the %s must not be in quotes: %.40q", what, w.text)
	}
	return w.text
}

func (l *textLine) word(what string) string   { return l.next(what, false) }
func (l *textLine) quoted(what string) string { return l.next(what, true) }

// quotedWords returns the remaining words of the line, all quoted.
func (l *textLine) quotedWords(what string) (words []string) {
	for l.more() {
		words = append(words, l.quoted(what))
	}
	return words
}

// bytes appends quoted text to data; the result is not nil.
func (l *textLine) bytes(data []byte) []byte {
	if data == nil {
		data = []byte{}
	}
	return append(data, l.quoted("text")...)
}

func (l *textLine) integer(what string, bits int) int64 {
	s := l.word(what)
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		l.fail("%q is not a %s", s, what)
	}
	return v
}

func (l *textLine) sites(dst []Site) []Site {
	for l.more() {
		dst = append(dst, get(l, "site", parseSite))
	}
	return dst
}

// get parses the next word, which has no key.
func get[T any](l *textLine, what string, parse func(string) (T, error)) T {
	s := l.word(what)
	var v T
	if l.err == nil {
		var err error
		if v, err = parse(s); err != nil {
			l.fail("%w", err)
		}
	}
	return v
}

// pairs parses the remaining words, key=value or a key alone, each at most once.
func (l *textLine) pairs(known map[string]func(word)) {
	for l.more() {
		w := l.words[0]
		l.words = l.words[1:]
		key := w.key
		if key == "" && !w.quoted {
			key = w.text
		}
		f, ok := known[key]
		if !ok {
			l.fail("%.40q is not known here, or is there twice", w.String())
			return
		}
		delete(known, key)
		f(w)
	}
}

// bare checks that a key has no value.
func (l *textLine) bare(w word) {
	if w.key != "" {
		l.fail("%q takes no value", w.key)
	}
}

// string returns a pair's quoted value.
func (l *textLine) string(w word) string {
	if !w.quoted {
		l.fail("the value must be in quotes: %.40q", w.String())
	}
	return w.text
}

// value returns a pair's value.
func value[T any](l *textLine, w word, parse func(string) (T, error)) T {
	var v T
	if w.key == "" || w.quoted {
		l.fail("a value is wanted, without quotes: %.40q", w.String())
		return v
	}
	v, err := parse(w.text)
	if err != nil {
		l.fail("%s: %w", w.key, err)
	}
	return v
}

func parseInt(s string) (int64, error)     { return parseSigned(s, 64) }
func parseInt32(s string) (int64, error)   { return parseSigned(s, 32) }
func parseUint(s string) (uint64, error)   { return parseUnsigned(s, 64) }
func parseUint32(s string) (uint64, error) { return parseUnsigned(s, 32) }

func parseSigned(s string, bits int) (int64, error) {
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a %d-bit number", s, bits)
	}
	return v, nil
}

func parseUnsigned(s string, bits int) (uint64, error) {
	v, err := strconv.ParseUint(s, 0, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a %d-bit number", s, bits)
	}
	return v, nil
}
