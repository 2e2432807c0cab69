package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestGoTestWords(t *testing.T) {
	t.Parallel()
	var c commandLine
	parser, err := newParser(&c, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		// As go test has them: one dash or two, the value joined or not.
		"test -run TestX ./p":       "test --run=TestX ./p",
		"test -run=TestX ./p":       "test --run=TestX ./p",
		"test --run TestX ./p":      "test --run=TestX ./p",
		"test -test.run=TestX ./p":  "test --run=TestX ./p",
		"test ./p -run TestX":       "test ./p --run=TestX",
		"test -v -short -race":      "test --v --short --race",
		"test -race=false":          "test --race=false",
		"test -json":                "test --json",
		"test -gcflags -N":          "test --gcflags=-N",
		"test -gcflags=all=-N":      "test --gcflags=all=-N",
		"test -p 4 -cpu 1,2":        "test --p=4 --cpu=1,2",
		"test -run":                 "test --run",
		"test . -args -run x -- -a": "test . --args=-run --args=x --args=-- --args=-a",
		"test . --args":             "test .",
		// heddle's, before and after the command.
		"--cache test test -run X": "--cache test test --run=X",
		"--json test -run X":       "--json test --run=X",
		"test --seed 7 -run X":     "test --seed=7 --run=X",
		// What is unknown is the parser's to refuse.
		"test -nosuch x": "test --nosuch x",
		"test -h":        "test --help",
		"test -":         "test -",
		"test -- -run":   "test -- --run",
		// Other commands have other rules.
		"find -o x -- test -run X": "find -o x -- test -run X",
		"cc -c test -run":          "cc -c test -run",
		"--json":                   "--json",
		"":                         "",
	} {
		got := strings.Join(goTestWords(parser.Model, strings.Fields(in)), " ")
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// What a trace's header says is read back as it was meant.
func TestRecordedCommandLine(t *testing.T) {
	t.Parallel()
	c := testCommand{
		goFlags: goFlags{
			NoLeaks: true, LeakIgnore: []string{"a.(*B).c", "d,e"}, Tags: "x,y",
			Ldflags: []string{"-X=a.b=c d"}, Gcflags: []string{"all=-N -l", "-m"}, Trimpath: true,
		},
		Short: true, Parallel: 3, Skip: "TestY/a b", Args: []string{"-x", "--", "", "-args"},
	}
	words := c.words([]string{"example.com/p"}, "^TestX$/^a b$")
	read, err := parseRecorded(words)
	if err != nil {
		t.Fatal(err)
	}
	again := read.Test.words(read.Test.Packages, read.Test.Pattern)
	if !slices.Equal(again, words) || len(read.Test.Args) != 4 || read.Test.Pattern != "^TestX$/^a b$" {
		t.Errorf("%q\n%q", words, again)
	}
	for _, bad := range [][]string{nil, {"./prog"}, {"heddle", "simplify", "x"}, {"heddle", "test", "--nosuch", "x"}} {
		if _, err := parseRecorded(bad); err == nil {
			t.Errorf("%q is taken for a command line", bad)
		}
	}
}
