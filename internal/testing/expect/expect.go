// Package expect reads what is expected of a test program from the comment at its head, which
// has one form in C, C++ and Go: testdata/README.md.
package expect

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// Program is what is expected of a program, and how it is built and explored.
type Program struct {
	Summary string // what the program does, and its bug or the reason why it is correct
	// Kinds are the ways in which the program may be found to fail, any of them; empty if it
	// is right under every schedule.
	Kinds   []trace.Kind
	Finding string // part of the finding's text; empty if nothing is expected
	// Switches and Preemptions are the least cost of a trace that shows the finding, -1 where
	// it is not stated.
	Switches, Preemptions int
	Why                   string   // the argument for it
	Timeouts              bool     // the failure, or a right run, needs waits that time out early
	Isolation             string   // that executions need, as in the trace's header; empty for a snapshot
	PlugIn                string   // file name of the library made of the same source
	Note                  string   // part of a note that heddle find prints
	Flags                 []string // of the compiler
	Args                  []string // of the program
	Options               []string // of heddle find
	Few                   bool     // an execution takes so long that a test makes a hundredth of the usual number
	Partly                bool     // simplifying it to the end takes longer than a test may
}

// Clean reports whether the program is right under every schedule.
func (p Program) Clean() bool { return len(p.Kinds) == 0 }

// Read reads the head of a source file. An error names the file.
func Read(file string) (Program, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return Program{}, err
	}
	p, err := Parse(string(source))
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

var field = regexp.MustCompile(`^// ([a-z-]+): (\S.*)$`)

// Parse reads the comment that source begins with, up to the first line that is not a comment.
// An error names the line or the field.
func Parse(source string) (Program, error) {
	p := Program{Switches: -1, Preemptions: -1}
	var keys, values []string
	n := 0
	for line := range strings.Lines(source) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		if !strings.HasPrefix(line, "//") {
			break
		}
		if more, ok := strings.CutPrefix(line, "//   "); ok && len(values) > 0 {
			values[len(values)-1] += " " + strings.TrimSpace(more)
			continue
		}
		m := field.FindStringSubmatch(line)
		if m == nil {
			return p, fmt.Errorf("line %d: %q is not of the form // field: value", n, line)
		}
		if slices.Contains(keys, m[1]) {
			return p, fmt.Errorf("line %d: a second %s", n, m[1])
		}
		keys, values = append(keys, m[1]), append(values, m[2])
	}
	for i, key := range keys {
		if err := p.set(key, values[i]); err != nil {
			return p, fmt.Errorf("%s: %w", key, err)
		}
	}
	if !slices.Contains(keys, "kind") {
		return p, fmt.Errorf("no kind is stated")
	}
	if p.Clean() {
		for _, key := range []string{"finding", "minimum", "why", "simplified"} {
			if slices.Contains(keys, key) {
				return p, fmt.Errorf("%s: a program that is clean has none", key)
			}
		}
	}
	return p, nil
}

var minimum = regexp.MustCompile(`^switches=(\d{1,9})(?: preemptions=(\d{1,9}))?$`)

func (p *Program) set(key, value string) (err error) {
	switch key {
	case "heddle":
		p.Summary = value
	case "kind":
		p.Kinds, err = kinds(value)
	case "finding":
		p.Finding = value
	case "minimum":
		m := minimum.FindStringSubmatch(value)
		if m == nil {
			return fmt.Errorf("%q is not of the form switches=N preemptions=M", value)
		}
		p.Switches, _ = strconv.Atoi(m[1])
		if m[2] != "" {
			p.Preemptions, _ = strconv.Atoi(m[2])
		}
	case "why":
		p.Why = value
	case "needs":
		err = only(value, "timeouts", &p.Timeouts)
	case "simplified":
		err = only(value, "partly", &p.Partly)
	case "executions":
		err = only(value, "few", &p.Few)
	case "isolation":
		p.Isolation = value
	case "plug-in":
		p.PlugIn = value
	case "note":
		p.Note = value
	case "flags":
		p.Flags = strings.Fields(value)
	case "args":
		p.Args = strings.Fields(value)
	case "options":
		p.Options = strings.Fields(value)
	default:
		return fmt.Errorf("unknown field")
	}
	return err
}

// only sets what a field with a single possible value represents.
func only(value, want string, set *bool) error {
	if value != want {
		return fmt.Errorf("%q; want %s", value, want)
	}
	*set = true
	return nil
}

// kinds reads kinds as trace.Kind prints them, with | between them.
func kinds(value string) (all []trace.Kind, err error) {
	if value == trace.Clean.String() {
		return nil, nil
	}
	for name := range strings.SplitSeq(value, "|") {
		k := trace.Kind(0)
		for ; k.String() != name; k++ {
			if k == 255 {
				return nil, fmt.Errorf("unknown kind %q", name)
			}
		}
		if !k.Failed() {
			return nil, fmt.Errorf("%q is not a kind of failure", name)
		}
		all = append(all, k)
	}
	return all, nil
}
