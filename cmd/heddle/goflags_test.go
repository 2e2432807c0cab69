package main

import (
	"io"
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
		"test -j2 -run X":           "test --jobs=2 --run=X",
		"test -j2x":                 "test --j2x",
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
