package gotest

import (
	"bytes"
	"fmt"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// findIgnored records which names of --leak-ignore are part of a function's name in a test binary.
// The table of functions includes inlined ones.
func (s *suite) findIgnored(binary string) error {
	names := s.options.Recipe.LeakIgnore
	if len(names) == 0 {
		return nil
	}
	e, err := regular.OpenELF(binary)
	if err != nil {
		return err
	}
	defer e.Close()
	table := elffile.Section(e.File, ".gopclntab")
	if table == nil {
		table = elffile.Section(e.File, ".data.rel.ro.gopclntab")
	}
	if s.ignored == nil {
		s.ignored = map[string]bool{}
	}
	for _, name := range names {
		s.ignored[name] = s.ignored[name] || bytes.Contains(table, []byte(name))
	}
	return nil
}

// noteIgnored notes the names of --leak-ignore that match no function in any package's tests.
func (s *suite) noteIgnored() {
	for _, name := range s.options.Recipe.LeakIgnore {
		if found, looked := s.ignored[name]; looked && !found {
			s.launcher.Note(fmt.Sprintf("--leak-ignore=%s has no effect: no function in these tests has that name", name))
		}
	}
}
