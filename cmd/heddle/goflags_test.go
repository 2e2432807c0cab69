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
		"test . -args -run x -- -a": "test . --args=-run --args=x --args=-- --args=-a",
		"test . --args":             "test .",
		// heddle's, before and after the command.
		"--cache test test -run X": "--cache test test --run=X",
		"--json test -run X":       "--json test --run=X",
		"test --seed 7 -run X":     "test --seed=7 --run=X",
		// Flags of the test binary.
		"test -mine ./p -run X":         "test --args=-mine --args=./p --args=-run --args=X",
		"test ./p -mine=1 -run X":       "test ./p --args=-mine=1 --run=X",
		"test -mine -other -run X":      "test --args=-mine --args=-other --run=X",
		"test ./p -mine 3 -other":       "test ./p --args=-mine --args=3 --args=-other",
		"test ./p -mine -args x":        "test ./p --args=-mine --args=x",
		"test ./p -bench . -run X -out": "test ./p --bench . --run=X --args=-out",
		// What is unknown otherwise is the parser's to refuse.
		"test --nosuch x": "test --nosuch x",
		"test -time 5s":   "test --time 5s",
		"test -h":         "test --help",
		"test -":          "test -",
		"test -- -run":    "test -- --run",
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
