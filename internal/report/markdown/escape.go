package markdown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/wording"
)

// span is text of the program as a code span, in which nothing but the closing backquotes has a
// meaning (CommonMark 0.31, section 6.1).
func span(s string) string {
	s = short(wording.Line(s))
	if strings.TrimSpace(s) == "" {
		return ""
	}
	mark := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " " // of which a reader removes one on each side
	}
	return mark + s + mark
}

// cell is span for a cell of a table, where a vertical bar ends the cell in a code span, too. A text that
// has one is an HTML element in which every character but letters and digits is a numeric reference.
func cell(s string) string {
	if !strings.Contains(s, "|") {
		return span(s)
	}
	var b strings.Builder
	for _, r := range short(wording.Line(s)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return "<code>" + b.String() + "</code>"
}

// short cuts a text at longestText bytes.
func short(s string) string {
	if len(s) <= longestText {
		return s
	}
	n := longestText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// longestRun is the length of the longest run of backquotes.
func longestRun(s string) (longest int) {
	run := 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
