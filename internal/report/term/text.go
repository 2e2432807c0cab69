package term

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/heddle-dev/heddle/internal/wording"
)

// pen adapts text to what the terminal can show. All text goes through clean before it is measured
// and drawn.
type pen struct{ color, unicode bool }

// ascii spells what heddle itself writes outside of ASCII.
var ascii = strings.NewReplacer(
	"→", "->", "←", "<-", "…", "...", "×", "x", "·", ".",
	"│", "|", "─", "-", "╭", "+", "╰", "+", "●", "*", "✗", "x", "▶", ">",
)

// clean makes s safe for a terminal: one line, no control characters (names, messages and source
// lines come from files that may hold anything), ASCII only if that is all the terminal has.
func (p pen) clean(s string) string {
	s = strings.TrimRight(strings.ReplaceAll(wording.Uncoloured(s), "\t", "  "), " \n")
	if !p.unicode {
		s = ascii.Replace(s)
	}
	return strings.Map(func(r rune) rune {
		if !p.unicode && r >= utf8.RuneSelf {
			return '?'
		}
		return wording.Visible(r)
	}, s)
}

// sign returns one of heddle's own symbols in the terminal's character set.
func (p pen) sign(s string) string {
	if p.unicode {
		return s
	}
	return ascii.Replace(s)
}

func width(s string) int { return ansi.StringWidth(s) }

// truncate cuts s to w cells and marks the cut.
func (p pen) truncate(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, p.ellipsis(w))
}

// truncateLeft cuts the beginning of s, so that the line number of a long path stays.
func (p pen) truncateLeft(s string, w int) string {
	if width(s) <= w {
		return s
	}
	dots := p.ellipsis(w)
	cut := width(s) - w + width(dots)
	out := ansi.TruncateLeft(s, cut, dots)
	for width(out) > w { // a wide character lay across the cut
		cut++
		out = ansi.TruncateLeft(s, cut, dots)
	}
	return out
}

func (p pen) ellipsis(w int) string {
	dots := p.sign("…")
	if width(dots) >= w {
		return ""
	}
	return dots
}

// wrap breaks s into at most limit lines of w cells. Words are kept whole where they fit on a line,
// an arrow with what it points to; longer ones, the names of C++, are broken after punctuation if
// there is some. Excess text is dropped before the last line, which has the value.
func (p pen) wrap(s string, w, limit int) []string {
	for _, arrow := range []string{"→", "←"} {
		arrow = p.sign(arrow)
		s = strings.ReplaceAll(s, arrow+" ", arrow+glue)
	}
	var lines []string
	line := ""
	for _, word := range strings.Split(s, " ") {
		switch joined := line + " " + word; {
		case line == "":
			line = word
		case width(joined) <= w:
			line = joined
		default:
			lines, line = append(lines, line), word
		}
		for wider(line, w) {
			head, tail := split(line, w)
			lines, line = append(lines, head), tail
		}
	}
	lines = append(lines, line)
	if n := len(lines); n > limit {
		cut := lines[limit-2] + p.sign("…")
		if width(cut) > w {
			cut = p.truncate(cut, w)
		}
		lines = append(lines[:limit-2], cut, lines[n-1])
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], glue, " ")
	}
	return lines
}

// glue is a space at which wrap does not break a line.
const glue = "\u00a0"

// split divides a word that is wider than w: after the last punctuation in the second
// half of what fits, or where it is full. Both parts have at least one character.
func split(word string, w int) (head, tail string) {
	head = ansi.Truncate(start(word, w), w, "")
	if i := strings.LastIndexAny(head, "._:/,>])-"); i+1 > len(head)/2 {
		head = head[:i+1]
	}
	if head == "" || head == word { // not even one wide character fits, or all are of no width
		_, n := utf8.DecodeRuneInString(word)
		return "?", word[n:]
	}
	return head, word[len(head):]
}

// start returns the prefix of s that a line of w cells may need: measuring all of a word of a
// megabyte for each of its lines takes minutes.
func start(s string, w int) string {
	n := 64*w + 64
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// wider reports whether s takes more than w cells.
func wider(s string, w int) bool { return width(start(s, w)) > w || len(s) > 64*w+64 && width(s) > w }

// pad fills s with spaces to w cells.
func pad(s string, w int) string {
	if n := w - width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// style is the appearance of a piece of text.
type style int

const (
	plain style = iota
	faint
	bold
	alarm // what went wrong
	firstThread
)

var threadColors = []ansi.BasicColor{ansi.Cyan, ansi.Green, ansi.Yellow, ansi.Magenta, ansi.Blue, ansi.BrightCyan, ansi.BrightGreen, ansi.BrightMagenta}

// threadStyle is the colour of column number i.
func threadStyle(i int) style { return firstThread + style(i%len(threadColors)) }

func (p pen) paint(s string, st style) string {
	if !p.color || st == plain || s == "" {
		return s
	}
	switch st {
	case faint:
		return ansi.NewStyle().Faint().Styled(s)
	case bold:
		return ansi.NewStyle().Bold().Styled(s)
	case alarm:
		return ansi.NewStyle().Bold().ForegroundColor(ansi.Red).Styled(s)
	}
	return ansi.NewStyle().ForegroundColor(threadColors[st-firstThread]).Styled(s)
}

// shortCommand is a command line for a title. Long arguments are cut, and so is a long list.
func shortCommand(words []string) string {
	const longest, most = 200, 1000
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if b.Len() > most {
			fmt.Fprintf(&b, "… (%d arguments in all)", len(words)-1)
			break
		}
		if len(w) > longest {
			w = w[:longest] + "…"
		}
		b.WriteString(w)
	}
	return b.String()
}
