package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// test is a test of ThreadSanitizer: a program, and what its report must contain.
type test struct {
	Name     string
	Expected string // kind of the expected report; empty: none
	Flags    []string
	CXX      bool
	Skipped  string // why it cannot be compared
}

var (
	runLine = regexp.MustCompile(`RUN: *(.*)`)
	// simple matches the command of a test that compiles one file and runs it without arguments.
	simple = regexp.MustCompile(`^%clang(xx)?_tsan ((?:-O\d |-{1,2}std=\S+ |-fno-builtin |-g )*)%s -o %t(?: &&)? (?:not )?(?:%deflake )?%run %t(?: 2>&1)? \| FileCheck %s$`)
	// warning matches what a report must contain.
	warning = regexp.MustCompile(`(?m)^\s*//\s*CHECK(?:-NEXT|-DAG)?: .*ThreadSanitizer: ([a-z][^{(]*?)(?: \(|\{| *$)`)
	// own matches uses of ThreadSanitizer's own interface, by which a test tells it what to report.
	own = regexp.MustCompile(`\b(Annotate\w+|__tsan_(?:default|java|create|switch|get|set|destroy|flush|on|mutex|acquire|release|ignore|unaligned|atomic|external|locate|symbolize|func|read|write|test_only)\w*|__sanitizer_\w+|java\.h|custom_mutex\.h)\b`)
)

// list returns the tests in a directory, or only those named.
func list(dir string, only []string) (tests []test, err error) {
	var files []string
	for _, pattern := range []string{"*.c", "*.cpp"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	for _, f := range files {
		name := filepath.Base(f)
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		tests = append(tests, parse(name, string(source)))
	}
	if len(tests) == 0 {
		return nil, fmt.Errorf("no tests in %s: want files with RUN and CHECK lines", dir)
	}
	return tests, nil
}

func parse(name, source string) test {
	t := test{Name: name}
	var commands []string
	for _, m := range runLine.FindAllStringSubmatch(source, -1) {
		commands = append(commands, strings.TrimSpace(m[1]))
	}
	m := simple.FindStringSubmatch(strings.Join(commands, " "))
	if w := warning.FindStringSubmatch(source); w != nil {
		t.Expected = strings.TrimSpace(w[1])
	}
	switch uses := own.FindString(source); {
	case m == nil:
		t.Skipped = "more than one file, command or argument, or an option of ThreadSanitizer"
	case uses != "":
		t.Skipped = "ThreadSanitizer's own interface: " + uses
	case strings.Contains(source, "XFAIL: *"):
		t.Skipped = "expected to fail with ThreadSanitizer"
	case t.Expected != "" && !isRace(t.Expected):
		t.Skipped = "no race: " + t.Expected
	default:
		t.CXX, t.Flags = m[1] != "", strings.Fields(m[2])
	}
	return t
}

// isRace reports whether a kind of report is that of a data race, or of its consequence.
func isRace(kind string) bool {
	return strings.Contains(kind, "race") || strings.Contains(kind, "use-after-free")
}
