// Package systemcalls reads the table of system calls that the C runtime is compiled with.
package systemcalls

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle"
)

//go:generate go run ./gen

// Treatment is what happens when a program under control makes a system call itself. Its value is
// the name of the table's macro.
type Treatment string

// Treatments, as runtime/c/process/system_calls.def describes them.
const (
	Modelled Treatment = "MODELLED"
	Kernel   Treatment = "KERNEL"
	Isolated Treatment = "ISOLATED"
	Absent   Treatment = "ABSENT"
	Refused  Treatment = "REFUSED"
)

// Call is a row of the table.
type Call struct {
	Number    int
	Name      string // the kernel's
	Treatment Treatment
	Part      string // of a refused call: what it belongs to, empty if that has no name
	Why       string // empty if the treatment needs no reason
}

var (
	row    = regexp.MustCompile(`^(MODELLED|KERNEL|ISOLATED|ABSENT|REFUSED)\((\d+), (\w+)(.*)\)$`)
	quoted = regexp.MustCompile(`"([^"]*)"`)
)

// Table returns all calls, in the order of their numbers.
func Table() ([]Call, error) {
	source, err := fs.ReadFile(heddle.CRuntime(), "c/process/system_calls.def")
	if err != nil {
		return nil, err
	}
	var calls []Call
	for line := range strings.Lines(string(source)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("system_calls.def: %q is not a row", line)
		}
		number, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("system_calls.def: %w", err)
		}
		c := Call{Number: number, Name: m[3], Treatment: Treatment(m[1])}
		switch texts := quoted.FindAllStringSubmatch(m[4], -1); {
		case c.Treatment == Modelled || c.Treatment == Isolated:
		case c.Treatment == Refused && len(texts) == 2:
			c.Part, c.Why = texts[0][1], texts[1][1]
		case c.Treatment != Refused && len(texts) == 1:
			c.Why = texts[0][1]
		default:
			return nil, fmt.Errorf("system_calls.def: %q has %d texts", line, len(texts))
		}
		if n := len(calls); n > 0 && calls[n-1].Number >= number {
			return nil, fmt.Errorf("system_calls.def: %s is not in the order of numbers", c.Name)
		}
		calls = append(calls, c)
	}
	return calls, nil
}
