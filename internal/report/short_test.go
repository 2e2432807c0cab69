package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A line that is too long ends with a clause, or a word.
func TestCutClause(t *testing.T) {
	long := strings.Repeat("far ", 40)
	for line, want := range map[string]string{
		"T1 waits for a at a.c:1, T2 waits for b at b.c:2, and " + long: "T1 waits for a at a.c:1, T2 waits for b at b.c:2 …",
		long:                     strings.TrimSpace(strings.Repeat("far ", 39)) + " …",
		strings.Repeat("x", 200): strings.Repeat("x", mostShort-2) + " …",
		"first; second, " + long: "first; second …",
	} {
		if got := cutClause(line); got != want || utf8.RuneCountInString(got) > mostShort {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}

// Of a block, a short name tells where it was allocated, however long the rest of its description is.
func TestShortBlock(t *testing.T) {
	x := &explaining{detail: detail{inLine: true, name: 12}}
	for name, want := range map[string]string{
		"block (malloc at list.cc:36, 56 bytes)+8":           "block (list.cc:36)+8",
		"block (entry, malloc at cache.c:63, 40 bytes)":      "block (cache.c:63)",
		"entry.next (entry, malloc at cache.c:63, 40 bytes)": "entry.next",
	} {
		if got := x.cutObject(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
	x.name = 0
	if got := x.cutObject("block (malloc at list.cc:36, 56 bytes)+8"); got != "block (malloc at list.cc:36, 56 bytes)+8" {
		t.Errorf("in a text: %s", got)
	}
}
