// Package goprograms reads the list of Go test programs in testdata/goprograms and what is
// expected of each, for tests. It starts nothing.
package goprograms

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/heddle-dev/heddle/internal/testing/expect"
)

// Program is one program or package of testdata/goprograms.
type Program struct {
	Name string // its directory's name, the same for a failing program and its twin
	Dir  string // its directory, below the directory given to List
	Main bool   // a command; otherwise a package with one test
	Test string // the test's name; empty for a command

	// Program is a test program with its expectations. README.md there defines how Switches counts.
	expect.Program
}

// groups is the directories that programs lie in.
var groups = []struct {
	dir         string
	main, fails bool
}{
	{"fail", false, true},
	{"pass", false, false},
	{"bench", false, false},
	{"mains/fail", true, true},
	{"mains/pass", true, false},
}

// List reads the programs below dir, which is testdata/goprograms: the packages in fail, pass
// and bench and the commands in mains, in this order and by name. An error names the file that
// it is about.
func List(dir string) ([]Program, error) {
	var all []Program
	for _, g := range groups {
		entries, err := os.ReadDir(filepath.Join(dir, g.dir))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			p, err := read(filepath.Join(dir, g.dir, e.Name()), g.main)
			if err != nil {
				return nil, err
			}
			if p.Clean() == g.fails {
				return nil, fmt.Errorf("%s: a program in %s cannot be %s", p.Dir, g.dir, map[bool]string{true: "clean", false: "expected to fail"}[p.Clean()])
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// documented is a head and, after an empty line, the package's documentation.
var documented = regexp.MustCompile(`^(?://.*\n)+\n// `)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)

// read reads the program in a directory.
func read(dir string, command bool) (Program, error) {
	name := filepath.Base(dir)
	file := filepath.Join(dir, name+".go")
	source, err := os.ReadFile(file)
	if err != nil {
		return Program{}, err
	}
	p := Program{Name: name, Dir: dir, Main: command}
	if p.Program, err = expect.Parse(string(source)); err != nil {
		return Program{}, fmt.Errorf("%s: %w", file, err)
	}
	if !documented.Match(source) {
		return Program{}, fmt.Errorf("%s: no documentation of the package after the head and an empty line", file)
	}
	if command {
		return p, nil
	}
	file = filepath.Join(dir, name+"_test.go")
	test, err := os.ReadFile(file)
	if err != nil {
		return Program{}, err
	}
	tests := testFunction.FindAllSubmatch(test, -1)
	if len(tests) != 1 {
		return Program{}, fmt.Errorf("%s: %d tests, want one", file, len(tests))
	}
	p.Test = string(tests[0][1])
	return p, nil
}
