// Package expectation finds, in the output of a program that has failed, which of its expectations failed first. Test frameworks
// go on after one, and their programs end with an exit status that is the same for all, or the number of those that failed.
//
// It also says in one line what the message of a failed Go test says. It imports only the standard library.
package expectation

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Failed is an expectation that failed.
type Failed struct {
	File string // as the program wrote it; empty if it named no place
	Line int
	Text string // what the program wrote about it, in one line; may be empty
	// Framework is false if the form of the line is that of no test framework. The line then only says that something failed.
	Framework bool
}

// form is how a framework writes about a failed expectation. The groups of at are named file, line and text. Without a text,
// the lines that follow are it, or what before matches in the line before it.
type form struct {
	framework string
	at        *regexp.Regexp
	before    *regexp.Regexp
}

var forms = []form{
	{"GoogleTest", regexp.MustCompile(`^(?P<file>.+?):(?P<line>\d+): Failure$`), nil},
	{"GoogleTest, outside of an expectation", regexp.MustCompile(`^unknown file: Failure$`), nil},
	{"Catch2", regexp.MustCompile(`^(?P<file>.+?):(?P<line>\d+): FAILED:$`), nil},
	{"doctest", regexp.MustCompile(`^(?P<file>.+?):(?P<line>\d+): (?:FATAL )?ERROR: (?P<text>.+)$`), nil},
	{"Boost.Test", regexp.MustCompile(`^(?P<file>.+?)\((?P<line>\d+)\): (?:fatal )?error: in "[^"]*": (?P<text>.+)$`), nil},
	{"Check", regexp.MustCompile(`^(?P<file>.+?):(?P<line>\d+):[FE]:[^:]*:[^:]*:-?\d+: (?P<text>.*)$`), nil},
	{"Unity", regexp.MustCompile(`^(?P<file>.+?):(?P<line>\d+):\w+:FAIL(?:: ?(?P<text>.*))?$`), nil},
	{"cmocka", regexp.MustCompile(`^(?:\[   LINE   \] --- )?(?P<file>.+?):(?P<line>\d+): error: Failure!$`), regexp.MustCompile(`^(?:\[  ERROR   \] --- )?(.+)$`)},
	{"CppUnit", regexp.MustCompile(`^\d+\) test: .* \([FE]\) line: (?P<line>\d+) (?P<file>.+)$`), nil},
	{"GLib", regexp.MustCompile(`ERROR:(?P<file>[^:]+):(?P<line>\d+):\w+: (?P<text>.+)$`), nil},
	{"Qt Test", regexp.MustCompile(`^\s*Loc: \[(?P<file>.+?)\((?P<line>\d+)\)\]$`), regexp.MustCompile(`^(?:FAIL!  : )?(.+)$`)},
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// place is a line of a source file.
	place = regexp.MustCompile(`([\w./+-]+\.(?:c|cc|cpp|cxx|C|h|hh|hpp|hxx|inl|ipp))(?::|\(|, line |:line )(\d+)`)
	// blames matches the words of a line about something that failed.
	blames = regexp.MustCompile(`(?i)\b(fail(ed|ure|s)?|assert(ion)?s?|mismatch|wrong|incorrect|violat(ed|ion|es)|corrupt(ed|ion)?|not equal|unexpected|expected\b.*\b(but|got|was|found|have))\b`)
	// praises matches those that say that nothing did, or how many.
	praises = regexp.MustCompile(`(?i)(^|[,;:|(]\s*)(0|no|zero|without( any)?)\b[ a-z]{0,20}\b(fail(ed|ure|ures)?|mismatch(es)?|assertions?)\b|\b(fail(ed|ure|ures)?|assertions?)\s*[:=]\s*\d+|(^|[,;:|(]\s*)\d+ (tests? |checks? )?(failed|failures?)\b|\bpass(ed)?\b|\bok\b`)
)

// most is how long a text may be, in bytes.
const most = 160

// First returns the first expectation that an output says has failed. Where a framework's form occurs, other lines say
// nothing.
func First(output []byte) (f Failed, ok bool) {
	lines := strings.Split(string(colours.ReplaceAll(bytes.ToValidUTF8(output, []byte("?")), nil)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	for i, l := range lines {
		for _, x := range forms {
			if m := x.at.FindStringSubmatch(l); m != nil {
				return x.failed(m, lines, i), true
			}
		}
	}
	for _, l := range lines {
		if l = strings.TrimSpace(l); !blames.MatchString(l) || praises.MatchString(l) {
			continue
		}
		f = Failed{Text: cut(l)}
		if m := place.FindStringSubmatch(l); m != nil {
			f.File = m[1]
			f.Line, _ = strconv.Atoi(m[2])
		}
		return f, true
	}
	return Failed{}, false
}

// message begins what a test framework's expectation is called.
const message = "failed expectation"

// Message is the message of an execution that ended with a status after the expectation had failed. It has the place of a framework's expectation
// unless a site is known, which tells it better.
func (f *Failed) Message(status int32, sited bool) string {
	switch {
	case !f.Framework:
		return fmt.Sprintf("exit status %d after: %s", status, f.Text)
	case f.File == "" || sited:
		return strings.TrimSuffix(message+": "+f.Text, ": ")
	}
	return fmt.Sprintf("%s at %s:%d", strings.TrimSuffix(message+": "+f.Text, ": "), filepath.Base(f.File), f.Line)
}

// Place returns the place in a message of a framework's expectation, ` at x.c:5`, which may be empty; ok is false for any other message.
func Place(text string) (place string, ok bool) {
	return placed.FindString(text), strings.HasPrefix(text, message)
}

var placed = regexp.MustCompile(` at [^ ]+:\d+$`)

func (x *form) failed(m, lines []string, i int) Failed {
	f := Failed{Framework: true}
	for n, name := range x.at.SubexpNames() {
		switch name {
		case "file":
			f.File = strings.TrimSpace(m[n])
		case "line":
			f.Line, _ = strconv.Atoi(m[n])
		case "text":
			f.Text = m[n]
		}
	}
	switch {
	case f.Text != "":
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  values: ") { // doctest
			f.Text += lines[i+1][1:]
		}
	case x.before != nil:
		if i > 0 {
			if m := x.before.FindStringSubmatch(lines[i-1]); m != nil {
				f.Text = m[1]
			}
		}
	default:
		f.Text = following(lines[i+1:])
	}
	f.Text = cut(strings.TrimSpace(f.Text))
	return f
}

// following joins the lines of a message that a framework writes below the place: up to an empty line, or one with a framework's mark.
func following(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "[") || strings.HasPrefix(l, "---") || strings.HasPrefix(l, "===") || b.Len() > most || begins(l) {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l)
	}
	return b.String()
}

// begins reports whether a line tells of a failed expectation of its own.
func begins(line string) bool {
	return slices.ContainsFunc(forms, func(x form) bool { return x.at.MatchString(line) })
}

func cut(s string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-3], "") + "..."
}
