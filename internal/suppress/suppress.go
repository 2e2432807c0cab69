// Package suppress reads suppression files in the syntax of ThreadSanitizer, and says what they cover.
//
// A line is `type:pattern`; lines that begin with # are comments. In a pattern * stands for any text,
// ^ for the beginning and $ for the end; otherwise the pattern may occur anywhere.
package suppress

import (
	"io"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/usage"
)

// Kind is the type of a line.
type Kind string

const (
	Race     Kind = "race"     // data races with a frame, or of a variable, that matches
	RaceTop  Kind = "race_top" // data races with an innermost frame that matches
	Mutex    Kind = "mutex"    // misuse of locks with a frame that matches
	Deadlock Kind = "deadlock" // deadlocks with a frame that matches
)

// others are the types that ThreadSanitizer has and that cover nothing that heddle reports.
var others = []Kind{"thread", "signal", "called_from_lib"}

// Frame is a function call on a stack; fields that are not known are empty.
type Frame struct {
	Funcs  []string // names of the function: for people, and as the linker has it
	File   string
	Module string // path of the program or library
}

// List is the lines of suppression files.
type List struct{ lines []line }

type line struct {
	kind    Kind
	pattern string
}

// Read reads suppression files. The error is a usage.Error.
func Read(names []string) (List, error) {
	var l List
	for _, name := range names {
		f, err := regular.Open(name)
		if err != nil {
			return List{}, usage.Errorf("--suppressions: %w", err)
		}
		text, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return List{}, usage.Errorf("--suppressions: cannot read %s: %w", name, err)
		}
		if err := l.add(name, string(text)); err != nil {
			return List{}, err
		}
	}
	return l, nil
}

// add adds the lines of one file.
func (l *List) add(name, text string) error {
	n := 0
	for s := range strings.Lines(text) {
		n++
		s = strings.TrimSpace(s)
		if s == "" || s[0] == '#' {
			continue
		}
		kind, pattern, ok := strings.Cut(s, ":")
		known := slices.Contains([]Kind{Race, RaceTop, Mutex, Deadlock}, Kind(kind))
		switch {
		case !ok || !known && !slices.Contains(others, Kind(kind)):
			return usage.Errorf("--suppressions: %s:%d: invalid line %q: want TYPE:PATTERN with one of the types race, race_top, mutex, deadlock", name, n, s)
		case pattern == "":
			return usage.Errorf("--suppressions: %s:%d: %s has no pattern", name, n, s)
		case known:
			l.lines = append(l.lines, line{Kind(kind), pattern})
		}
	}
	return nil
}

// Race reports whether a race is covered. The stacks are those of both accesses, innermost frame first;
// variable is the name of the memory, empty if unknown.
func (l List) Race(variable string, stacks ...[]Frame) bool {
	if l.has(Race, func(p string) bool { return match(p, variable) }) {
		return true
	}
	for _, stack := range stacks {
		if l.Covers(Race, stack) || len(stack) > 0 && l.Covers(RaceTop, stack[:1]) {
			return true
		}
	}
	return false
}

// Covers reports whether a line of this kind matches the function, the file or the module of a frame.
func (l List) Covers(kind Kind, stack []Frame) bool {
	return l.has(kind, func(p string) bool {
		return slices.ContainsFunc(stack, func(f Frame) bool {
			return match(p, f.File) || match(p, f.Module) || slices.ContainsFunc(f.Funcs, func(s string) bool { return match(p, s) })
		})
	})
}

func (l List) has(kind Kind, matches func(pattern string) bool) bool {
	return slices.ContainsFunc(l.lines, func(x line) bool { return x.kind == kind && matches(x.pattern) })
}

// match reports whether a pattern matches a text. No pattern matches the empty text.
func match(pattern, text string) bool {
	if text == "" {
		return false
	}
	pattern, fromStart := strings.CutPrefix(pattern, "^")
	pattern, toEnd := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !fromStart {
		parts = append([]string{""}, parts...)
	}
	if !toEnd {
		parts = append(parts, "")
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return text == first
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return strings.HasSuffix(text, last)
}
