// Package wording formats numbers and words for heddle's messages.
package wording

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Nouns of counts that a reader might take for one another.
const (
	// Behaviour is a class of executions that order conflicting operations in the same way.
	Behaviour = "distinct behaviour"
	// Signature is what a search counts while it goes on: the signatures of executions' scheduling points. A behaviour has another
	// signature when the search has made more instructions scheduling points.
	Signature = "trace signature"
)

// Count is a number of things: 1 execution, 1,234 executions, 2 switches.
func Count(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "ch"):
		what += "es"
	default:
		what += "s"
	}
	return Thousands(n) + " " + what
}

// Thousands writes 1234567 as 1,234,567.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Percent is a probability with two significant digits.
func Percent(p float64) string {
	switch {
	case p >= 0.1:
		return fmt.Sprintf("%.0f %%", 100*p)
	case p >= 0.01:
		return fmt.Sprintf("%.1f %%", 100*p)
	}
	return fmt.Sprintf("%.2g %%", 100*p)
}

var plain = regexp.MustCompile(`^[-\w./+=:,@%]+$`)

// Quoted is a word as any shell of POSIX must be given it, in visible characters, but for a word that ends in a newline, which
// the value of a command loses.
func Quoted(word string) string {
	if plain.MatchString(word) {
		return word // syntax.Quote quotes what has a = in it, which matters in a first word only
	}
	if strings.ContainsFunc(word, func(r rune) bool { return Visible(r) != r || r == utf8.RuneError }) && !strings.HasSuffix(word, "\n") {
		return `"$(printf '` + octal(word) + `')"`
	}
	quoted, err := syntax.Quote(word, syntax.LangPOSIX)
	if err != nil {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return quoted
}

// octal is a word as printf's format, with escapes for the bytes of what is not a visible character and of quotes.
func octal(word string) string {
	var b strings.Builder
	if rest, ok := strings.CutPrefix(word, "-"); ok { // which would begin an option of printf
		b.WriteString(`\055`)
		word = rest
	}
	for len(word) > 0 {
		r, n := utf8.DecodeRuneInString(word)
		switch {
		case r == '\\' || r == '%':
			b.WriteString(strings.Repeat(string(r), 2))
		case r == '\'' || Visible(r) != r:
			for _, c := range []byte(word[:n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteString(word[:n])
		}
		word = word[n:]
	}
	return b.String()
}

// QuotedWords is a command line as a shell must be given it.
func QuotedWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = Quoted(w)
	}
	return strings.Join(out, " ")
}

// Visible is the character, or "?" for one that a terminal or an editor would act on, would not show, or
// would let change the direction of the characters after it.
func Visible(r rune) rune {
	if r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
		return '?'
	}
	return r
}

// Uncoloured is text without the sequences by which a program sets colours on a terminal.
func Uncoloured(s string) string { return colours.ReplaceAllString(s, "") }

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Line is text of a program, or of a trace, as one line without invisible characters.
func Line(s string) string {
	s = strings.TrimRight(strings.ReplaceAll(Uncoloured(s), "\t", "  "), " \n")
	return strings.Map(Visible, strings.ReplaceAll(s, "\n", " "))
}

// Middle shortens a text to at most n characters, of which n has to be 3 or more, by leaving out some in the middle.
func Middle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
