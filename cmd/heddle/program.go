package main

import (
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/heddle-dev/heddle/internal/usage"
)

// program is the part of a command line that belongs to the program under test: everything after
// "--" or, without it, from the first word that is not a flag. None of it is parsed.
type program []string

// words returns the program and its arguments.
func (p program) words() []string {
	if len(p) > 0 && p[0] == "--" {
		return p[1:]
	}
	return p
}

// misplaced rejects a heddle flag among the program's arguments, unless the program follows "--":
// heddle would silently ignore it there.
func (p program) misplaced(command *kong.Node) error {
	if len(p) == 0 || p[0] == "--" {
		return nil
	}
	known := map[string]bool{}
	for node := command; node != nil; node = node.Parent {
		for _, f := range node.Flags {
			known["--"+f.Name] = true
		}
	}
	for _, word := range p[1:] {
		name, _, _ := strings.Cut(word, "=")
		if word == "--" {
			return nil
		}
		if known[name] {
			return usage.Errorf("%s comes after the program: put it before the program, or write -- before the program if it is the program's own", name)
		}
	}
	return nil
}

// name returns the base name for output files; "program" if none is named.
func (p program) name() string {
	if len(p.words()) == 0 {
		return "program"
	}
	path, err := filepath.Abs(p.words()[0])
	if err != nil {
		path = p.words()[0]
	}
	return filepath.Base(path)
}
