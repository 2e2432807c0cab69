// Package goprograms reads the list of Go test programs in testdata/goprograms and what is
// expected of each, for tests. It starts nothing.
package goprograms

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Program is one program or package of testdata/goprograms.
type Program struct {
	Name string // its directory's name, the same for a failing program and its twin
	Dir  string // its directory, below the directory given to List
	Main bool   // a command; otherwise a package with one test
	Test string // the test's name; empty for a command

	// Kinds is how the program may be found to fail, any of kinds; empty if it is right.
	// Which of several it is depends on the schedule and on what is looked for.
	Kinds []string
	// Text is part of what the report of the finding says; empty if nothing is expected. It
	// is part of the message of a failed test, a panic or a fatal error, "os.Exit" for an
	// exit, and for a deadlock, a leak or a hang the name of a function in which a goroutine
	// is stuck.
	Text string
	// Switches is the fewest context switches of a trace that shows the finding, -1 if it
	// is not stated. README.md there says what is counted.
	Switches int
}

// Clean reports whether the program is right under every schedule.
func (p Program) Clean() bool { return len(p.Kinds) == 0 }

// kinds is how a program can fail.
var kinds = []string{"fail", "panic", "fatal", "race", "deadlock", "leak", "hang", "exit"}

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

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)

// read reads the program in a directory.
func read(dir string, command bool) (Program, error) {
	name := filepath.Base(dir)
	file := filepath.Join(dir, name+".go")
	source, err := os.ReadFile(file)
	if err != nil {
		return Program{}, err
	}
	p, err := parse(string(source))
	if err != nil {
		return Program{}, fmt.Errorf("%s: %w", file, err)
	}
	p.Name, p.Dir, p.Main = name, dir, command
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

const mark = "// heddle: "

var field = regexp.MustCompile(`^(\w+)=("(?:[^"\\]|\\.)*"|[^"\s]\S*)(?: |$)`)

// parse reads the first line of a program, which says what is expected of it. An empty line
// parts it from the package's documentation.
func parse(source string) (Program, error) {
	p := Program{Switches: -1}
	header, rest, _ := strings.Cut(source, "\n")
	header, ok := strings.CutPrefix(header, mark)
	if !ok {
		return p, fmt.Errorf("line 1 does not begin with %q", mark)
	}
	if !strings.HasPrefix(rest, "\n// ") {
		return p, fmt.Errorf("line 2 is not empty, or no documentation of the package follows it")
	}
	if header == "clean" {
		return p, nil
	}
	seen := map[string]bool{}
	for header != "" {
		m := field.FindStringSubmatch(header)
		if m == nil {
			return p, fmt.Errorf("line 1: %q is not of the form key=value", header)
		}
		if seen[m[1]] {
			return p, fmt.Errorf("line 1: two of %s", m[1])
		}
		seen[m[1]] = true
		if err := p.set(m[1], m[2]); err != nil {
			return p, fmt.Errorf("line 1: %w", err)
		}
		header = header[len(m[0]):]
	}
	if !seen["kind"] || !seen["text"] {
		return p, fmt.Errorf("line 1: kind and text are needed, or clean alone")
	}
	return p, nil
}

// set takes over one field of the first line.
func (p *Program) set(key, value string) (err error) {
	switch key {
	case "kind":
		p.Kinds = strings.Split(value, "|")
		for _, k := range p.Kinds {
			if !slices.Contains(kinds, k) {
				return fmt.Errorf("kind %q is none of %s", k, strings.Join(kinds, ", "))
			}
		}
	case "text":
		if p.Text, err = strconv.Unquote(value); err != nil {
			return fmt.Errorf("text %s is not a quoted string", value)
		}
	case "switches":
		if p.Switches, err = strconv.Atoi(value); err != nil || p.Switches < 0 {
			return fmt.Errorf("switches %q is not a number of context switches", value)
		}
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}
